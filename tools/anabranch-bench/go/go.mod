module fibers

go 1.21

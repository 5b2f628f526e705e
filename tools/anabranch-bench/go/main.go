// The workloads of fibers in Go, the counterpart of the peers in ../src/fibers/peers. The harness there starts this program
// with GOMAXPROCS, the name of a workload and its numbers, and reads one line of JSON.
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

type done struct {
	Answer  uint64             `json:"answer"`
	Wall    float64            `json:"wall"`
	CPU     float64            `json:"cpu"`
	Figures map[string]float64 `json:"figures"`
}

type watch struct {
	start time.Time
	cpu   float64
}

func cpuSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) * 1e-9
}

func startWatch() watch {
	return watch{cpu: cpuSeconds(), start: time.Now()}
}

func (w watch) stop(answer uint64) done {
	wall := time.Since(w.start).Seconds()
	return done{Answer: answer, Wall: wall, CPU: cpuSeconds() - w.cpu, Figures: map[string]float64{}}
}

// Runs as many goroutines as fibers says, this one included, each of which yields as often as times says.
func yields(fibers, times uint64) done {
	give := func() {
		for i := uint64(0); i < times; i++ {
			runtime.Gosched()
		}
	}
	w := startWatch()
	var group sync.WaitGroup
	for i := uint64(1); i < fibers; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			give()
		}()
	}
	give()
	group.Wait()
	return w.stop(fibers * times)
}

// Runs goroutines that do nothing, and waits for them by a wait group.
func spawn(count uint64) done {
	w := startWatch()
	var group sync.WaitGroup
	for i := uint64(0); i < count; i++ {
		group.Add(1)
		go group.Done()
	}
	group.Wait()
	return w.stop(count)
}

func fib(n uint64) uint64 {
	if n < 2 {
		return n
	}
	a := make(chan uint64, 1)
	go func() { a <- fib(n - 1) }()
	b := fib(n - 2)
	return <-a + b
}

func fibDone(n uint64) done {
	w := startWatch()
	return w.stop(fib(n))
}

// Reads the memory of this process from /proc, in bytes, and its number of mappings.
func memory() map[string]float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		panic(err)
	}
	found := map[string]float64{}
	names := map[string]string{"VmRSS": "resident", "VmHWM": "peak", "VmPTE": "tables", "VmSize": "address"}
	for _, line := range strings.Split(string(status), "\n") {
		key, value, _ := strings.Cut(line, ":")
		if name, ok := names[key]; ok {
			kib, err := strconv.ParseFloat(strings.Fields(value)[0], 64)
			if err != nil {
				panic(err)
			}
			found[name] = kib * 1024
		}
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		panic(err)
	}
	found["mappings"] = float64(strings.Count(string(maps), "\n"))
	return found
}

func asleep(count, milliseconds uint64) done {
	before := memory()
	w := startWatch()
	wakes := w.start.Add(time.Duration(milliseconds) * time.Millisecond)
	var entered, left atomic.Uint64
	var group sync.WaitGroup
	for i := uint64(0); i < count; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			entered.Add(1)
			time.Sleep(time.Until(wakes))
			left.Add(1)
		}()
	}
	for entered.Load() < count {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(30 * time.Millisecond)
	after := time.Since(w.start).Seconds()
	now := memory()
	if left.Load() != 0 {
		panic("when the first woke up not all were asleep yet")
	}
	figures := map[string]float64{"asleep s": after, "mappings": now["mappings"]}
	for _, name := range []string{"resident", "peak", "tables", "address"} {
		figures[name] = (now[name] - before[name]) / float64(count)
	}
	group.Wait()
	result := w.stop(left.Load())
	result.Figures = figures
	return result
}

func percentile(sorted []float64, p float64) float64 {
	return sorted[int(p*float64(len(sorted)-1)+0.5)]
}

func alarms(count, lead, spread uint64) done {
	delays := make([]time.Duration, count)
	for i := range delays {
		delays[i] = time.Duration(lead)*time.Microsecond +
			time.Duration(float64(spread)*1000*float64(i)/float64(count))
	}
	random := rand.New(rand.NewSource(0xa1a))
	random.Shuffle(len(delays), func(i, j int) { delays[i], delays[j] = delays[j], delays[i] })
	late := make([]float64, count)
	sequence := make([]time.Duration, count)
	var rung atomic.Uint64
	w := startWatch()
	var group sync.WaitGroup
	for i := range delays {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			due := w.start.Add(delays[i])
			time.Sleep(time.Until(due))
			after := time.Since(due)
			sequence[rung.Add(1)-1] = delays[i]
			late[i] = max(float64(after.Nanoseconds())/1e3, 0)
		}(i)
	}
	group.Wait()
	result := w.stop(rung.Load())
	sort.Float64s(late)
	swapped := 0
	for i := 1; i < len(sequence); i++ {
		if sequence[i-1] > sequence[i] {
			swapped++
		}
	}
	result.Figures = map[string]float64{
		"p50":     percentile(late, 0.5),
		"p99":     percentile(late, 0.99),
		"max":     percentile(late, 1),
		"swapped": float64(swapped) * 1e3 / float64(count),
	}
	return result
}

func lock(fibers, times uint64) done {
	var mutex sync.Mutex
	sum := uint64(0)
	w := startWatch()
	var group sync.WaitGroup
	for i := uint64(0); i < fibers; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for j := uint64(0); j < times; j++ {
				mutex.Lock()
				sum++
				mutex.Unlock()
			}
		}()
	}
	group.Wait()
	return w.stop(sum)
}

func main() {
	if os.Args[1] == "serve" {
		serve(os.Args[2])
		return
	}
	numbers := []uint64{}
	for _, text := range os.Args[2:] {
		number, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			panic(err)
		}
		numbers = append(numbers, number)
	}
	var result done
	switch os.Args[1] {
	case "yields":
		result = yields(numbers[0], numbers[1])
	case "spawn":
		result = spawn(numbers[0])
	case "fib":
		result = fibDone(numbers[0])
	case "asleep":
		result = asleep(numbers[0], numbers[1])
	case "alarms":
		result = alarms(numbers[0], numbers[1], numbers[2])
	case "lock":
		result = lock(numbers[0], numbers[1])
	default:
		panic("no workload is called " + os.Args[1])
	}
	text, err := json.Marshal(result)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(text))
}

use anabranch_kernel::kernel;

const LIMIT: u32 = 3;

fn helper(a: f32) -> f32 {
    a
}

#[kernel]
fn outside(a: f32) -> f32 {
    helper(a) + LIMIT as f32 + lenght(a)
}

#[kernel]
fn methods(a: f32, b: i32, c: usize_is_no_name, xs: &[f32]) -> f32 {
    let x = a.sqroot() + a.hypot(a) + a.cbrt() + b.checked_add(1) + a.frobnicate() + 2.0.sqrt();
    let y = xs.iter().sum();
    let z = xs.first() + xs;
    let w = f32::from(b) + f32::maximum(a, a) + a.min();
    f64::MAX
}

#[kernel]
fn misspelt(radius: f32) -> f32 {
    radus * 2.0
}

#[kernel]
fn recursive(n: u32) -> u32 {
    if n == 0 { 0 } else { recursive(n - 1) }
}

#[kernel]
mod shapes {
    use std::f32::consts::PI;

    struct Circle {
        radius: f32,
        large: bool,
    }

    struct Index(usize);

    enum Kind {
        Round,
    }

    impl Circle {
        fn area(self) -> f32 {
            self.radius
        }
    }

    fn area(circle: Circle) -> f32 {
        circle.radus * circle.area() * PI + aera(circle) + circle.radius.x
    }

    fn square(sqare: Sqare) -> f32 {
        1.0
    }

    fn there(n: u32) -> u32 {
        back(n)
    }

    fn back(n: u32) -> u32 {
        there(n)
    }

    fn array(xs: [f32; 3], ys: &[f32]) -> f32 {
        first(xs) + first(ys, ys) + first(&ys[1..=2]) + ys[0..1]
    }

    fn first(xs: &[f32]) -> f32 {
        xs[0]
    }

    #[kernel]
    fn twice(x: f32) -> f32 {
        x
    }

    #[cfg(unix)]
    fn sometimes(x: f32) -> f32 {
        x
    }
}

fn main() {}

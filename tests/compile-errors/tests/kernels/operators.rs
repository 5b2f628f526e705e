use anabranch_kernel::kernel;

#[kernel]
mod operators {
    struct Point {
        x: f32,
    }

    fn numbers(a: f32, b: u32, c: i32, t: bool) -> f32 {
        let d = a + b;
        let e = b << a;
        let f = -b;
        let g = !a;
        let h = t < true;
        let i = t as f32;
        let j = a & a;
        let k = if t { a } else { b };
        let l = [1.0, b];
        let m: u32 = a;
        a
    }

    fn parts(p: Point, xs: &[f32], i: u32) -> f32 {
        xs[i] = 1.0;
        let q = p + p;
        let r = p == p;
        let s = [p.x, 1.0] == [1.0, p.x];
        let t = xs[i] + i[0] + p.0;
        1.0 = 2.0;
        if i { 1.0 } else { 2.0 }
    }

    fn result(a: u32) -> f32 {
        a
    }

    fn returned(a: u32) -> f32 {
        return a;
    }

    fn selected(a: f32) -> u32 {
        match a {
            _ => 1,
        }
    }

    fn patterns(a: u32) -> u32 {
        match a {
            x @ 3 => x,
            (1) | 2 => 7,
            _ => 1,
        }
    }

    fn pairs(xs: &[f32], ys: &[f32]) -> f32 {
        let mut sum = 0.0;
        for pair in xs.iter().zip(ys) {
            sum += 1.0;
        }
        for x in xs.iter().rev() {
            sum += x;
        }
        for x in xs.chunks(2) {
            sum += 1.0;
        }
        sum
    }
}

fn main() {}

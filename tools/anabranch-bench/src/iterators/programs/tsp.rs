//! The shortest round trip through some cities, by branch and bound.
//!
//! The next cities of a trip are tried in parallel, until few are left. Those that cannot lead to a shorter trip than
//! the shortest one so far are left out. So the amount of work depends on the order in which the threads find trips.

use std::sync::atomic::{AtomicU32, Ordering};

use super::library::prelude::*;
use crate::iterators::program::Program;

/// The number of cities left from which on a trip is completed on one thread.
const FEW: u32 = 10;

/// A map with the distances between cities.
pub struct Tsp {
    distances: Vec<Vec<u32>>,
    /// The distance from the nearest other city.
    nearest: Vec<u32>,
    shortest: AtomicU32,
}

/// A trip that has begun at city 0.
#[derive(Clone, Copy)]
struct Trip {
    city: usize,
    visited: u32,
    length: u32,
    /// The least that the rest of the trip takes.
    rest: u32,
}

impl Tsp {
    /// Creates a map of `count` cities at random places in a square.
    pub fn new(count: usize) -> Tsp {
        let mut random = fastrand::Rng::with_seed(0x75b);
        let places: Vec<(f64, f64)> = (0..count).map(|_| (random.f64() * 1e4, random.f64() * 1e4)).collect();
        let distance = |(a, b): (f64, f64), (c, d): (f64, f64)| (a - c).hypot(b - d) as u32;
        let distances: Vec<Vec<u32>> =
            places.iter().map(|a| places.iter().map(|b| distance(*a, *b)).collect()).collect();
        let nearest = (0..count)
            .map(|city| {
                (0..count).filter(|other| *other != city).map(|other| distances[city][other]).min().unwrap_or(0)
            })
            .collect();
        Tsp { distances, nearest, shortest: AtomicU32::new(u32::MAX) }
    }

    fn next(&self, trip: Trip) -> impl Iterator<Item = Trip> + '_ {
        let unvisited = (0..self.distances.len()).filter(move |city| trip.visited & 1 << city == 0);
        let trips = unvisited.map(move |city| Trip {
            city,
            visited: trip.visited | 1 << city,
            length: trip.length + self.distances[trip.city][city],
            rest: trip.rest - self.nearest[city],
        });
        trips.filter(|trip| trip.length + trip.rest < self.shortest.load(Ordering::Relaxed))
    }

    fn search(&self, trip: Trip) {
        let left = self.distances.len() as u32 - trip.visited.count_ones();
        if left <= FEW {
            self.search_at_once(trip, left);
            return;
        }
        let mut next: Vec<Trip> = self.next(trip).collect();
        next.sort_by_key(|next| next.length);
        next.into_par_iter().for_each(|next| self.search(next));
    }

    fn search_at_once(&self, trip: Trip, left: u32) {
        if left == 0 {
            self.shortest.fetch_min(trip.length + self.distances[trip.city][0], Ordering::Relaxed);
        }
        for next in self.next(trip) {
            self.search_at_once(next, left - 1);
        }
    }
}

impl Program for Tsp {
    fn reset(&mut self) {
        *self.shortest.get_mut() = u32::MAX;
    }

    fn run(&mut self) -> u64 {
        // The way back to the first city is part of the rest.
        let rest = self.nearest.iter().sum();
        self.search(Trip { city: 0, visited: 1, length: 0, rest });
        self.shortest.load(Ordering::Relaxed).into()
    }
}

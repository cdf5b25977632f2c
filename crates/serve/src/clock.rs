//! The wall clock and the model's clock, which starts with the first request.
#![allow(clippy::disallowed_methods, reason = "here, and only here, time is that of the wall")]

use std::time::Instant;

use reprieve_base::{Dur, Time};

/// Thousandths of a scale of 1.
pub const UNSCALED: u64 = 1000;

/// Nanoseconds of wall-clock time since the server was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wall(pub u64);

/// Converts wall-clock time to the model's, and back.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// The model's zero; `None` before the first request.
    zero: Option<Wall>,
    /// Thousandths of a wall-clock nanosecond per nanosecond of the model.
    thousandths: u64,
}

/// The wall clock, with the scale of the model's.
pub struct Clock {
    wall: Box<dyn Fn() -> Wall + Send>,
    pub scale: Scale,
}

impl Clock {
    /// A clock whose model runs slower than the wall by `thousandths` / 1000.
    pub fn new(thousandths: u64) -> Clock {
        let start = Instant::now();
        let passed = move || u64::try_from(start.elapsed().as_nanos());
        let wall = move || Wall(passed().expect("a server that has run for 584 years"));
        Clock::of(Box::new(wall), thousandths)
    }

    /// A clock with another source of the wall-clock time.
    pub fn of(wall: Box<dyn Fn() -> Wall + Send>, thousandths: u64) -> Clock {
        Clock { wall, scale: Scale { zero: None, thousandths } }
    }

    /// The wall-clock time.
    #[inline]
    pub fn now(&self) -> Wall {
        (self.wall)()
    }
}

impl Scale {
    /// Sets the model's zero; later calls change nothing.
    pub fn start(&mut self, at: Wall) {
        self.zero.get_or_insert(at);
    }

    /// Whether the model's clock runs.
    pub fn runs(&self) -> bool {
        self.zero.is_some()
    }

    /// The model's time, rounded down; zero for earlier instants. Panics before it runs.
    #[inline]
    pub fn model(&self, at: Wall) -> Time {
        let zero = self.zero.expect("the model's clock runs");
        let passed_ns = at.0.saturating_sub(zero.0);
        if self.thousandths == UNSCALED {
            return Time::from_ns(passed_ns);
        }
        let model_ns = u128::from(passed_ns) * u128::from(UNSCALED) / u128::from(self.thousandths);
        Time::from_ns(u64::try_from(model_ns).expect("a model that has run for 584 years"))
    }

    /// The instant `by` of the model's time after another.
    pub fn later(&self, at: Wall, by: Dur) -> Wall {
        let by_ns = u128::from(by.ns()) * u128::from(self.thousandths);
        let wall_ns = u128::from(at.0) + by_ns.div_ceil(u128::from(UNSCALED));
        Wall(u64::try_from(wall_ns).unwrap_or(u64::MAX))
    }

    /// The first point at which the model's clock shows `time`. Panics before it runs.
    #[inline]
    pub fn wall(&self, time: Time) -> Wall {
        let zero = self.zero.expect("the model's clock runs");
        if self.thousandths == UNSCALED {
            return Wall(zero.0.saturating_add(time.ns()));
        }
        let scaled = u128::from(time.ns()) * u128::from(self.thousandths);
        let wall_ns = scaled.div_ceil(u128::from(UNSCALED)) + u128::from(zero.0);
        // Instants beyond the clock's range, such as `NEVER`, are never reached.
        Wall(u64::try_from(wall_ns).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_the_model_is_reached_not_before_its_point_on_the_wall() {
        for thousandths in [1, 333, 999, 1000, 1001, 10_000, 7_777_777] {
            let scale = Scale { zero: Some(Wall(5)), thousandths };
            for ns in [0, 1, 2, 3, 79_999, 80_000, 1 << 40] {
                let time = Time::from_ns(ns);
                let wall = scale.wall(time);
                assert!(scale.model(wall) >= time, "{thousandths} {ns}");
                if wall.0 > 5 {
                    assert!(scale.model(Wall(wall.0 - 1)) < time, "{thousandths} {ns}");
                }
            }
        }
        let ten = Scale { zero: Some(Wall(100)), thousandths: 10_000 };
        assert_eq!(ten.wall(Time::from_ns(80)), Wall(900));
        assert_eq!(ten.wall(Time::NEVER), Wall(u64::MAX));
        assert_eq!(ten.model(Wall(899)), Time::from_ns(79));
    }
}

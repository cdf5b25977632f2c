//! The wall clock and the model's clock, which the first request starts.
#![allow(clippy::disallowed_methods, reason = "here, and only here, time is that of the wall")]

use std::time::Instant;

use reprieve_base::{Dur, Time};

/// Thousandths of a scale of 1.
pub const UNSCALED: u64 = 1000;

/// Nanoseconds since the server was made: points on the wall's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wall(pub u64);

/// Turns points on the wall's clock into the model's, and back.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// The model's zero; `None`: no request has come yet.
    zero: Option<Wall>,
    /// Thousandths of a nanosecond on the wall for one of the model.
    thousandths: u64,
}

/// The wall's clock, with the scale of the model's.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
    pub scale: Scale,
}

impl Clock {
    /// A clock whose model runs so many thousandths times slower than the wall.
    pub fn new(thousandths: u64) -> Clock {
        Clock { start: Instant::now(), scale: Scale { zero: None, thousandths } }
    }

    /// The time on the wall.
    #[inline]
    pub fn now(&self) -> Wall {
        let passed = self.start.elapsed().as_nanos();
        Wall(u64::try_from(passed).expect("a server that has run for 584 years"))
    }
}

impl Scale {
    /// The model's time is zero at this point; later calls change nothing.
    pub fn start(&mut self, at: Wall) {
        self.zero.get_or_insert(at);
    }

    /// Whether the model's clock runs.
    pub fn runs(&self) -> bool {
        self.zero.is_some()
    }

    /// What the model's clock shows, rounded down; zero for what was before. Panics before it runs.
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

    /// The point that lies so much of the model's time behind another.
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
        // What is further than the clock reaches, such as `NEVER`, does not come.
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

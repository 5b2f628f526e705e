//! The publication of the private frames of a stack, from the oldest on, by the thread that has its gate.
//! [`stack`](super::stack) has the algorithm.

use crate::{
    fork::{
        frame::{Frame, Late, Lineage, Running, Shelved, Trace},
        offer::Offer,
        shelf::Shelf,
    },
    sys::parker::Parker,
};
use std::{mem::ManuallyDrop, ptr, sync::Arc};

/// The data under the gate, the lock of publication.
pub(super) struct Gate {
    /// The oldest private frame, as the last publication left it; null if it left none.
    pub(super) oldest: *const Frame,
    /// The number of raids since the owner last published something itself.
    pub(super) raids: u32,
    /// How often the owner has served a demand.
    pub(super) serves: u64,
    /// The root in which a raid has published everything, and the newest frame that it has seen; see the module.
    pub(super) swept: Option<(u64, *const Frame)>,
    /// The pieces of work that run on this thread, the innermost first.
    pub(super) running: *const Running,
}

impl Gate {
    pub(super) const fn new() -> Self {
        Self { oldest: ptr::null(), raids: 0, serves: 0, swept: None, running: ptr::null() }
    }
}

/// The right to publish the private frames of a stack. Nobody else accesses their [`Late`] meanwhile.
pub(super) struct Publication<'g> {
    /// The oldest private frame, which is traced; null if there is none.
    oldest: &'g mut *const Frame,
}

impl<'g> Publication<'g> {
    /// Traces the private frames from `newest` on.
    ///
    /// # Safety
    /// `newest` is the newest frame of the stack that has this gate. No pop of a linked frame ends meanwhile. The owner
    /// takes a published frame off the shelf, or takes its offer, before the frame ends.
    pub(super) unsafe fn new(gate: &'g mut Gate, newest: *const Frame) -> Self {
        let (oldest, mut running) = (&mut gate.oldest, gate.running);
        let (mut next, mut newer) = (newest, ptr::null());
        // SAFETY: no frame of the list is popped meanwhile. The records of what runs are alive: they change only under
        // the gate. Only this publisher accesses `late` of a private frame.
        unsafe {
            while let Some(frame) = next.as_ref().filter(|frame| !frame.is_published()) {
                if frame.is_traced.get() {
                    // All older frames are traced and unchanged.
                    (*frame.late()).trace.newer = newer;
                    return Self { oldest };
                }
                // A frame that was open when a piece of work began belongs to the work that this piece interrupted.
                while let Some(record) = running.as_ref().filter(|record| ptr::eq(record.base.get(), frame)) {
                    running = record.outer.get();
                }
                let parent = running.as_ref().map_or(ptr::null(), |record| record.lineage);
                frame.late().write(Late { trace: Trace { newer, parent } });
                frame.is_traced.set(true);
                newer = next;
                next = frame.previous();
            }
        }
        *oldest = newer;
        Self { oldest }
    }

    /// Publishes the oldest private frames, at most `most`, on the shelf or by offers. `owner` will wait for them.
    /// Returns their number.
    pub(super) fn publish(
        mut self,
        shelf: &Shelf,
        owner: *const Parker,
        most: usize,
        mut offer: impl FnMut(Arc<Offer>),
    ) -> usize {
        (0..most).take_while(|_| self.publish_next(shelf, owner, &mut offer)).count()
    }

    /// Returns `false` if there is none.
    fn publish_next(&mut self, shelf: &Shelf, owner: *const Parker, offer: impl FnOnce(Arc<Offer>)) -> bool {
        let oldest = *self.oldest;
        // SAFETY: `new` demands that the frame stays linked, so it is alive, and that nobody else accesses `late`. It
        // was traced. The work that forked it is below it on the stack and has not ended.
        let (frame, parent) = unsafe {
            let Some(frame) = oldest.as_ref() else { return false };
            let Trace { newer, parent } = (*frame.late()).trace;
            *self.oldest = newer;
            (frame, parent.as_ref())
        };
        if frame.may_wait() {
            // SAFETY: the frame is alive until the offer is taken, and the thread that takes the offer owns it.
            let made = Arc::new(unsafe { Offer::new(frame.execute, oldest.cast()) });
            // SAFETY: see above.
            unsafe { frame.late().write(Late { offer: ManuallyDrop::new(Arc::clone(&made)) }) };
            frame.set_published();
            offer(made);
        } else {
            let shelved = ManuallyDrop::new(Shelved::new(Lineage::below(parent), owner));
            // SAFETY: see above. The shelf has the frame until its owner ends it there.
            unsafe {
                frame.late().write(Late { shelved });
                frame.set_published();
                shelf.publish(oldest);
            }
        }
        true
    }
}

import type { Signal } from '@preact/signals';

/** What lies over the conversation: one thing at a time. `job` is a scheduled job that is being written. The drawer is the list of workstreams on a phone. */
export type Overlay = Signal<'drawer' | 'new' | 'saved' | 'shortcuts' | 'job' | undefined>;

import type { Signal } from '@preact/signals';

/** What lies over the conversation: one thing at a time. `job` is a scheduled job that is being written. The drawer is the list of workstreams on a phone. */
export type Overlay = Signal<'drawer' | 'new' | 'saved' | 'shortcuts' | 'job' | undefined>;

/** Whether something lies over the conversation, so that Escape is about that. */
export const isCovered = (): boolean => document.querySelector('dialog[open], .desk.drawn') !== null;

/** Where keys are text. */
export const isField = (
  target: EventTarget | null,
): target is HTMLTextAreaElement | HTMLSelectElement | HTMLInputElement =>
  target instanceof HTMLTextAreaElement ||
  target instanceof HTMLSelectElement ||
  (target instanceof HTMLInputElement && target.type !== 'checkbox');

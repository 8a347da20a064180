import { type Signal, signal } from '@preact/signals';

/** What a person writes in place of a message; undefined while it is not being edited. */
export type BegunEdit = Signal<string | undefined>;

/** A message of the conversation, or one that waits. */
type Edited = { seq: number } | { runId: string };

const begun = new WeakMap<object, Map<string, BegunEdit>>();

/**
 * What was begun at a message of a tab. Its field goes and comes again when a person scrolls, shows another workstream or
 * connects again.
 */
export function begunEditOf(tab: object, edited: Edited): BegunEdit {
  const all = begun.get(tab) ?? new Map<string, BegunEdit>();
  begun.set(tab, all);
  const name = JSON.stringify(edited);
  const known = all.get(name) ?? signal(undefined);
  all.set(name, known);
  return known;
}

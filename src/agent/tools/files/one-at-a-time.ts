import { createSerialKeys } from '../../../timing/serial-keys.ts';

/** For the whole daemon, because several conversations may work in the same folder. */
const changes = createSerialKeys();

/**
 * Changes files while nobody else changes one of them. The calls of one answer run at the same time, and each looks whether
 * its file is still the one that it was prepared for: two of them would find that, and the second would undo the first.
 */
export function whileAlone<T>(paths: readonly string[], work: () => Promise<T>): Promise<T> {
  const [first, ...others] = [...new Set(paths)].sort(); // in the same order for all, so that none waits for another in a circle
  return first === undefined ? work() : changes.run(first, () => whileAlone(others, work));
}

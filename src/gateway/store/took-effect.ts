import { UnitRefused } from './store.ts';

/** False when the unit was refused: what it is about is not there, or somebody else was first. */
export async function tookEffect(committed: Promise<unknown>): Promise<boolean> {
  try {
    await committed;
    return true;
  } catch (error) {
    if (error instanceof UnitRefused) return false;
    throw error;
  }
}

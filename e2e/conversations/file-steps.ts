import { GatewayError } from '../../protocol/errors.ts';
import type { Random } from '../checker/random.ts';
import { sendScripted } from './scripted-turns.ts';
import type { Talk } from './talk.ts';

/** A person takes back what a run changed on disk, or brings it back. The model is told by a further message. */
export async function undoFiles(talk: Talk, random: Random): Promise<void> {
  const { machine, wsId, witness } = talk;
  const method = random.pick(['checkpoint.undo', 'checkpoint.undo', 'checkpoint.redo'] as const);
  try {
    const { failed } = await machine.call(method, { wsId, onConflict: random.pick(['keep', 'overwrite'] as const) });
    if (failed.length > 0) witness.violate(`${method} could not change ${JSON.stringify(failed)}`);
  } catch (error) {
    if (!(error instanceof GatewayError && error.code === 'NOT_FOUND')) throw error; // nothing to take back
  }
  if (random.chance(0.3)) await machine.crashAnew();
  await sendScripted(talk, random);
}

/** The commands in the background end, and the model is told by a further message. */
export async function endBackground(talk: Talk, random: Random): Promise<void> {
  const { machine, wsId } = talk;
  await talk.until(() => {
    for (const end of machine.world.running) end(); // one may still be starting
    return machine.background.commands.runningIn(wsId).length === 0;
  });
  if (random.chance(0.3)) await machine.crashAnew();
  await sendScripted(talk, random);
}

import type { Random } from '../checker/random.ts';
import { pause } from '../support/deadline.ts';
import type { Scene } from './chapter.ts';
import type { KillMood } from './score.ts';

const KILLER = new URL('../support/fixtures/killed-at-statement.ts', import.meta.url);

/** Statements of a few messages, from their arrival to their answers. */
const MOST_STATEMENTS = 150;

/** The environment of a daemon that can be killed after a random statement. */
export const killable = (env: Record<string, string>, random: Random) => ({
  ...env,
  NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import=${KILLER.href}`,
  KILL_ARMED: '1',
  KILL_AFTER: String(random.int(1, MOST_STATEMENTS)),
});

/** A daemon that is not killed by then had nothing more to do. */
const LONGEST_MS = 1_500;

/** Kills the daemon (kill -9) at a random step of what `work` causes. */
export async function chooseKill({ daemon, telegram, random }: Scene, work: () => Promise<void>): Promise<KillMood> {
  const mood = random.fraction();
  if (mood < 0.6) {
    const exited = daemon.exited();
    daemon.signal('SIGUSR2'); // counts its statements from now on
    await work();
    if (await Promise.race([exited.then(() => true), pause(LONGEST_MS).then(() => false)])) return 'statement';
    await daemon.kill9();
    return 'time';
  }
  const sent = telegram.callsOf('sendMessage').length;
  await work();
  if (mood < 0.8) {
    await Promise.race([telegram.call('sendMessage', sent + random.int(1, 3)), pause(LONGEST_MS)]);
    await pause(random.int(0, 3));
    await daemon.kill9();
    return 'sending';
  }
  await pause(random.int(0, 400));
  await daemon.kill9();
  return 'time';
}

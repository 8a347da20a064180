import { systemClock } from '../../src/clock.ts';
import type { Boot } from '../checker/evidence.ts';
import type { DaemonUnderTest } from '../support/daemon/daemon.ts';
import { spawnHeadgate } from '../support/daemon/daemon-process.ts';

/** Starts another process on the home of a dead daemon, and kills it soon. */
export async function killWhileStarting(
  { home, port }: DaemonUnderTest,
  { env, afterMs }: { env: Record<string, string>; afterMs: number },
): Promise<{ boot: Boot; output: string }> {
  const spawnedMs = systemClock.now();
  const child = await spawnHeadgate({ args: ['start', '--port', String(port), '--home', home], env });
  await systemClock.sleep(afterMs, new AbortController().signal);
  child.kill('SIGKILL');
  await child.exited;
  return { boot: { spawnedMs, diedMs: systemClock.now() }, output: child.stdout() + child.stderr() };
}

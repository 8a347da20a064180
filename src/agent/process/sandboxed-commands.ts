import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../clock.ts';

/** The running sandboxed commands, by the process id of their root. */
export interface SandboxedCommands {
  /** Call this before the command starts. */
  begin(leader: number): void;
  /** Call this when all its processes are gone. */
  end(leader: number): void;
  readonly leaders: ReadonlySet<number>;
  /** Whether one runs, or ended so recently that the daemon may not have accepted its connections yet. */
  areNear(): boolean;
}

const LINGER_MS = 2_000;
const NEVER = new AbortController().signal;

export function createSandboxedCommands(clock: Clock): SandboxedCommands {
  const leaders = new Set<number>();
  let lingering = 0;

  async function linger(): Promise<void> {
    lingering += 1;
    await clock.sleep(LINGER_MS, NEVER);
    // If this process was busy meanwhile, pending connections are accepted in the next turn of its event loop.
    await nextTurn();
    await nextTurn();
    lingering -= 1;
  }

  return {
    leaders,
    begin: (leader) => void leaders.add(leader),
    end(leader) {
      if (leaders.delete(leader)) void linger();
    },
    areNear: () => leaders.size > 0 || lingering > 0,
  };
}

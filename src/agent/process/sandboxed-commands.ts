import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../clock.ts';

/** The sandboxed commands that run now, by the process that everything they start descends from. */
export interface SandboxedCommands {
  /** Before the command may start. */
  begin(leader: number): void;
  /** When all its processes are gone. */
  end(leader: number): void;
  readonly leaders: ReadonlySet<number>;
  /** Whether one runs, or ended so recently that a connection of it may still wait to be accepted. */
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
    // If this process was busy meanwhile, the connections that wait are accepted in the next turn of its loop.
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

import type { Sender } from '../rights.ts';
import type { Viewer } from '../sharing/perception.ts';
import type { Workstream } from '../workstreams/workstream.ts';

/** A slash command. */
export interface Command {
  /**
   * `idle`: it is refused while a run is in progress; `alone`: also, no run may start meanwhile, because it changes the
   * context of the next turn.
   */
  when: 'always' | 'idle' | 'alone';
  run(argument: string, workstream: Workstream, by: CommandCaller): Promise<void>;
}

/** Who enters a command. */
export interface CommandCaller extends Sender {
  viewer: Viewer;
}

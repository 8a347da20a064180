import { readCommand } from '../../permissions/read-command.ts';
import type { FakeTool } from '../fake-toolbox.ts';
import type { JournalEntry } from '../journal.ts';
import { callOf } from '../run-fixture.ts';

/** A tool that runs commands in the fixture's working directory; they are read like real ones. */
export const SHELL: FakeTool = {
  needsApproval: true,
  known({ arguments: text }) {
    const { command }: { command: string } = JSON.parse(text);
    return { reading: readCommand(command, { folder: '/work' }), matched: { command } };
  },
};

/** A call of `bash`. */
export const shell = (id: string, command: string) => callOf(id, 'bash', JSON.stringify({ command }));

/** The journal of a run whose model has just made these calls. */
export const answered = (...calls: ReturnType<typeof callOf>[]): JournalEntry[] => [
  { kind: 'started' },
  { kind: 'model_called', afterSeq: 1 },
  { kind: 'model_answered', calls },
];

import type { Clock } from '../../clock.ts';
import { findGitState } from '../project/git-state.ts';
import { type FoundInstructions, findInstructions, type InstructionFolders } from '../project/instructions.ts';

/** What surrounds a conversation now. */
export interface Sight {
  /** The local date, YYYY-MM-DD. */
  date: string;
  zone: string;
  instructions: FoundInstructions;
}

/** What people decided in a conversation about folders with instruction files. */
export interface InstructionTrust {
  trusted: string[];
  declined: string[];
}

/** Looks at the machine for the system prompt and for messages about changes. Never rejects. */
export interface Surroundings {
  /** `agreed`: folders whose instructions people trust in this conversation. */
  look(workdir: string, agreed: readonly string[]): Promise<Sight>;
  /** The branch and commit of a repository, in words for the model; undefined outside of one. */
  git(workdir: string): Promise<string | undefined>;
}

interface SurroundingsDeps {
  folders: InstructionFolders;
  /** The zone of this machine, an IANA name. */
  hostTimeZone: string;
  clock: Pick<Clock, 'now'>;
}

/** Looks at this machine. */
export function createSurroundings({ folders, hostTimeZone, clock }: SurroundingsDeps): Surroundings {
  const days = new Intl.DateTimeFormat('en-CA', { timeZone: hostTimeZone, dateStyle: 'short' });
  return {
    async look(workdir, agreed) {
      const instructions = await findInstructions(workdir, folders, agreed);
      return { date: days.format(clock.now()), zone: hostTimeZone, instructions };
    },
    git: findGitState,
  };
}

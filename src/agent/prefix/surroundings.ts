import type { Clock } from '../../clock.ts';
import { createEndOfTurn } from '../../timing/end-of-turn.ts';
import { findGitState } from '../project/git-state.ts';
import { type FoundInstructions, findInstructions, type InstructionFolders } from '../project/instructions.ts';
import { findProjectFolders } from '../project/project-folders.ts';
import type { FolderSkills } from '../skills/folder-skills.ts';
import { createLooks } from '../tools/files/file-looks.ts';

/** What surrounds a conversation now. */
export interface Sight {
  /** The local date, YYYY-MM-DD. */
  date: string;
  zone: string;
  /** The branch and state of the repository, in words for the model; undefined outside of one. */
  git?: string | undefined;
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
}

interface SurroundingsDeps {
  folders: InstructionFolders;
  skills: Pick<FolderSkills, 'find'>;
  /** The zone of this machine, an IANA name. */
  hostTimeZone: string;
  clock: Pick<Clock, 'now'>;
}

/** Looks at this machine. */
export function createSurroundings({ folders, skills, hostTimeZone, clock }: SurroundingsDeps): Surroundings {
  // Created when it is needed: the first format of a process takes 15 ms, which no start of the daemon should wait for.
  let days: Intl.DateTimeFormat | undefined;
  const places = createLooks();
  const look = async (workdir: string, agreed: readonly string[]): Promise<Sight> => {
    const looks = await places.at(workdir);
    const { folders: project, root } = await findProjectFolders(workdir, looks);
    const [found, { waiting }, git] = await Promise.all([
      findInstructions(folders, { project, looks, agreed }),
      skills.find(workdir, agreed),
      root === undefined ? undefined : findGitState(root, looks),
    ]);
    const instructions = { ...found, untrusted: [...found.untrusted, ...waiting] };
    days ??= new Intl.DateTimeFormat('en-CA', { timeZone: hostTimeZone, dateStyle: 'short' });
    return { date: days.format(clock.now()), zone: hostTimeZone, git, instructions };
  };
  // Runs that begin in the same turn of the event loop, often in the same folder, see the same.
  const { defer } = createEndOfTurn();
  const ofThisTurn = new Map<string, Promise<Sight>>();
  return {
    look(workdir, agreed) {
      const name = JSON.stringify([workdir, agreed]);
      const seen = ofThisTurn.get(name) ?? look(workdir, agreed);
      if (ofThisTurn.size === 0) defer(() => ofThisTurn.clear());
      ofThisTurn.set(name, seen);
      return seen;
    },
  };
}

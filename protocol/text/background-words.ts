import type { BackgroundCommand } from '../events/background-command.ts';
import type { SubAgent } from '../events/sub-agent.ts';

type Ended = Pick<BackgroundCommand, 'end' | 'exit_code' | 'limit'>;

const LIMITS: Record<NonNullable<Ended['limit']>, string> = {
  processes: 'of processes',
  memory: 'of memory',
  file_size: 'of the size of files',
};

/** How a background command has ended: `exit code 1`. */
export function endWords({ end, exit_code: exitCode = 0, limit }: Ended): string {
  const over = limit === undefined ? '' : `, at its limit ${LIMITS[limit]}`;
  return `${toWords(end, exitCode)}${over}`;
}

function toWords(end: Ended['end'], exitCode: number): string {
  switch (end) {
    case 'exited':
      return exitCode === 0 ? 'finished' : `exit code ${exitCode}`;
    case 'signal':
      return 'ended by a signal';
    case 'failed':
      return 'it could not be run';
    case 'killed':
      return 'ended on request';
    case 'timeout':
      return 'ended at its time limit';
    case 'cancelled':
      return 'ended by the cancel of the run';
    case 'closed':
      return 'ended because the workstream was closed';
    case 'reset':
      return 'ended because a new conversation began';
    case 'shutdown':
      return 'ended because Headgate was stopped';
    case 'lost':
      return 'ended because Headgate stopped unexpectedly';
    default:
      return 'ended';
  }
}

/** A time span, as short as people read it: `8 s`, `3 min 20 s`, `2 h 5 min`. */
export function spanWords(ms: number): string {
  const secs = Math.max(0, Math.round(ms / 1_000));
  if (secs < 60) return `${secs} s`;
  const minutes = Math.floor(secs / 60);
  if (minutes < 60) return joined(`${minutes} min`, secs % 60, 's');
  return joined(`${Math.floor(minutes / 60)} h`, minutes % 60, 'min');
}

const joined = (first: string, rest: number, unit: string): string => (rest === 0 ? first : `${first} ${rest} ${unit}`);

/** What a question says about a command that goes on in the background. */
export const inBackgroundWords = (secs: number): string => `in the background, for up to ${spanWords(secs * 1_000)}`;

const MAX_NAME = 60;

/** The first line of a command, for lists and sentences. */
export function commandName(command: string): string {
  const [first = '', ...more] = command.trim().split('\n');
  const short = first.slice(0, MAX_NAME);
  return more.length > 0 || short !== first ? `${short} …` : first;
}

type ToldAgent = Pick<SubAgent, 'state' | 'outcome' | 'cancelled_by' | 'turns' | 'tool_calls'>;

/** What a sub-agent does, or how it ended: `working, 2 turns, 3 calls`. */
export function subAgentWords({ turns, tool_calls: calls, ...agent }: ToldAgent): string {
  const did =
    turns === 0 ? '' : `, ${turns} ${turns === 1 ? 'turn' : 'turns'}, ${calls} ${calls === 1 ? 'call' : 'calls'}`;
  return `${stateWords(agent)}${did}`;
}

function stateWords({
  state,
  outcome,
  cancelled_by: by,
}: Pick<ToldAgent, 'state' | 'outcome' | 'cancelled_by'>): string {
  if (state !== 'ended') return state === 'waiting' ? 'waiting' : 'working';
  if (outcome === 'limit') return 'ended at a limit';
  return outcome === 'cancelled' && by !== undefined ? 'cancelled by a person' : (outcome ?? 'ended');
}

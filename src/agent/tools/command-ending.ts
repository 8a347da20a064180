import type { CommandLimit, RefusedHost } from '../../../protocol/events/command-result.ts';
import { toVisibleLine } from '../../../protocol/text/visible-text.ts';
import type { ProcessResult } from '../process/runner.ts';
import type { Limits } from '../sandbox/limits/limits.ts';
import type { PlantedPath } from '../sandbox/protected-paths.ts';
import { toStopLine } from './stop-line.ts';

/** How a command ended, and why. */
export interface CommandEnd {
  result: ProcessResult;
  timeoutSecs: number;
  limit: CommandLimit | undefined;
  limits: Limits | undefined;
  refused: readonly RefusedHost[];
}

/** What the model reads after the output of a command; empty if there is nothing to say. */
export const toEnding = ({ result, timeoutSecs, limit, limits, refused }: CommandEnd): string =>
  [
    toExitLine(result, timeoutSecs),
    ...(limit && limits ? [toLimitLine(limit, limits)] : []),
    ...toRefusedLines(refused),
    ...toPlantedLines(result),
  ]
    .filter((line) => line !== '')
    .join('\n');

/** As bash reports SIGXFSZ. */
const FILE_TOO_LARGE = 153;

/** Which limit ended the command, or something in it. */
export function limitOf(result: ProcessResult): CommandLimit | undefined {
  if (result.kind === 'exited' && result.exitCode === FILE_TOO_LARGE) return 'file_size';
  return result.kind === 'exited' || result.kind === 'killed' ? result.limit : undefined;
}

/** What the command left that programs outside the sandbox obey. The person sees it beside the output, the model is told what to do. */
const toPlantedLines = (result: ProcessResult): string[] =>
  result.kind === 'failed' ? [] : (result.planted ?? []).map(toPlantedLine);

/** The same as lines of an output; empty if there is nothing. */
export const toPlantedText = (result: ProcessResult): string =>
  toPlantedLines(result)
    .map((line) => `\n${line}\n`)
    .join('');

function toPlantedLine(found: PlantedPath): string {
  const path = toVisibleLine(found.path);
  return found.kind === 'link'
    ? `[${path} was a link, and other programs obey what is there now. Tell the person unless this was asked for]`
    : `[a new git repository names programs: ${path} (${toVisibleLine(found.why)}). A git outside the sandbox that is used there, or above it if it is a submodule, runs them. Tell the person unless this was asked for]`;
}

const MIB = 1_024 * 1_024;

function toLimitLine(limit: CommandLimit, limits: Limits): string {
  switch (limit) {
    case 'file_size':
      return `[a file reached the limit of ${limits.fileBytes / MIB} MiB]`;
    case 'memory':
      return `[ended because of the limit of ${limits.memoryBytes / MIB} MiB of memory for one command]`;
    case 'processes':
      return `[no more than ${limits.processes} processes at once for one command; some could not be started, or all were ended]`;
  }
}

const REFUSALS: Readonly<Record<RefusedHost['reason'], string>> = {
  not_allowed:
    'commands reach only package registries, hosts that the command names, and hosts that a person allows. To ask the person for these hosts, run exactly the same command again',
  rule: 'a permission rule denies it',
  address: 'the address is private or reserved, which only an entry in tools.network.allow allows',
};

function toRefusedLines(refused: readonly RefusedHost[]): string[] {
  const reasons = [...new Set(refused.map(({ reason }) => reason))];
  return reasons.map((reason) => {
    const hosts = refused.filter((one) => one.reason === reason);
    return `[no connection to ${toNames(hosts)}: ${REFUSALS[reason]}]`;
  });
}

const MAX_NAMED = 10;

function toNames(hosts: readonly RefusedHost[]): string {
  const names = hosts.slice(0, MAX_NAMED).map(({ host, port }) => `${host}:${port}`);
  const more = hosts.length > MAX_NAMED ? ` and ${hosts.length - MAX_NAMED} more` : '';
  return `${names.join(', ')}${more}`;
}

function toExitLine(result: ProcessResult, timeoutSecs: number): string {
  switch (result.kind) {
    case 'exited':
      return result.exitCode === 0 ? '' : `[exit code: ${result.exitCode}]`;
    case 'killed':
      return `[killed by ${result.signal}]`;
    case 'failed':
      return `[${result.message}]`;
    case 'stopped':
      return toStopLine(result.reason, timeoutSecs);
  }
}

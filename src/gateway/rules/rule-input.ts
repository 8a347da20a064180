import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { GatewayError } from '../../../protocol/errors.ts';
import type { RuleMatch } from '../../../protocol/events/rules.ts';
import { toRealPath } from '../../agent/permissions/resolve-links.ts';
import { checkPattern } from '../policies/policy-input.ts';

/** Throws INVALID_REQUEST for a match that would match nothing, or everything: a rule that denies nothing is noticed too late. */
export async function checkMatch(match: RuleMatch): Promise<RuleMatch> {
  const { tool, program, args, argsStart, path: folder, access, host } = match;
  if (Object.values(match).every((value) => value === undefined))
    throw refused('A rule needs at least one field in match');
  if ((args ?? argsStart) !== undefined && program === undefined)
    throw refused('args and argsStart belong to a program');
  if (args !== undefined && argsStart !== undefined) throw refused('args and argsStart exclude each other');
  if (access !== undefined && folder === undefined) throw refused('access belongs to a path');
  return {
    ...match,
    ...(tool !== undefined && { tool: checkPattern(tool) }),
    ...(folder !== undefined && { path: await checkFolder(folder) }),
    ...(host !== undefined && { host: checkHost(host) }),
  };
}

/** An absolute path without links, as those of calls are, and without a slash at its end. */
export async function checkFolder(folder: string): Promise<string> {
  if (!path.isAbsolute(folder)) throw refused(`The path must be absolute, not "${folder}"`);
  return toRealPath(path.resolve(folder), NAMES);
}

const NAMES = { realpath: (file: string) => realpath(file).catch(() => undefined) };

function checkHost(host: string): string {
  const name = host.trim().toLowerCase().replace(/\.$/, '');
  if (!/^(\*\.)?[a-z\d_]([a-z\d_.:-]*[a-z\d_])?$|^\[[a-f\d:.]+\]$/.test(name))
    throw refused(`"${host}" is no name of a host. Use a name such as example.org, or *.example.org for all below it`);
  return name;
}

const refused = (message: string) => new GatewayError('INVALID_REQUEST', message);

import path from 'node:path';
import { GatewayError } from '../../../protocol/errors.ts';
import type { RuleMatch } from '../../../protocol/events/rules.ts';
import { checkPattern } from '../policies/policy-input.ts';

/** Throws INVALID_REQUEST for a match that would match nothing, or everything: a rule that denies nothing is noticed too late. */
export function checkMatch(match: RuleMatch): RuleMatch {
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
    ...(folder !== undefined && { path: checkFolder(folder) }),
    ...(host !== undefined && { host: checkHost(host) }),
  };
}

/** An absolute path without a slash at its end. */
export function checkFolder(folder: string): string {
  if (!path.isAbsolute(folder)) throw refused(`The path must be absolute, not "${folder}"`);
  return path.resolve(folder);
}

function checkHost(host: string): string {
  const name = host.trim().toLowerCase().replace(/\.$/, '');
  if (!/^(\*\.)?[a-z\d_]([a-z\d_.:-]*[a-z\d_])?$|^\[[a-f\d:.]+\]$/.test(name))
    throw refused(`"${host}" is no name of a host. Use a name such as example.org, or *.example.org for all below it`);
  return name;
}

const refused = (message: string) => new GatewayError('INVALID_REQUEST', message);

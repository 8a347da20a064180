import type { RuleMatch } from '../../../../protocol/events/rules.ts';
import type { Effect, ProtectedWrite } from '../command-reading.ts';
import { isBelow, type Matcher, type RuledCall } from './matching.ts';
import type { RuleSource } from './rule-source.ts';

/** What only a person allows, or a rule that names it, whatever else allows the call (decisions 81 and 82). */
export interface SpecialPermission {
  /** Changes of protected paths that no rule names. */
  writes: readonly ProtectedWrite[];
  /** Hosts that the command itself does not name, and no rule. */
  hosts: readonly string[];
}

interface Candidate {
  rule: RuleSource;
  matcher: Matcher;
}

const NOTHING: SpecialPermission = { writes: [], hosts: [] };

/** What of a call needs special permission. `fitting`: the rules that may be about the call. */
export function findSpecial(
  { reading, protectedWrites = [] }: RuledCall,
  fitting: readonly Candidate[],
): SpecialPermission {
  const unreached = reading?.effects.filter(({ isUnreached }) => isUnreached === true) ?? [];
  if (protectedWrites.length === 0 && unreached.length === 0) return NOTHING;
  const allowing = fitting.filter(({ rule }) => rule.action === 'allow');
  return {
    writes: protectedWrites.filter((write) => !allowing.some(({ rule }) => namesWrite(rule.match, write))),
    hosts: unreached
      .filter((effect) => !allowing.some((candidate) => namesHost(candidate, effect)))
      .flatMap(({ target }) => target ?? []),
  };
}

/**
 * The exact text of the command, or a path at or in the protected one that has all that the call changes there. Not a
 * program, a tool or a folder around it: whoever gave such a rule did not think of these paths.
 */
function namesWrite({ command, program, host, path, access }: RuleMatch, write: ProtectedWrite): boolean {
  if (program !== undefined || host !== undefined) return false;
  if (path === undefined) return command !== undefined && access === undefined;
  return access !== 'read' && isBelow(write.place, path) && isBelow(path, write.path);
}

/** Not the exact text, because whoever allowed it had not seen the host; and nobody knows which program connects. */
const namesHost = ({ rule: { match }, matcher }: Candidate, effect: Effect): boolean =>
  match.host !== undefined && match.program === undefined && matcher.fitsEffect(effect) === 'yes';

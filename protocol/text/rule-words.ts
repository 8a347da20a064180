import { POLICY_WORDS } from '../events/policy-actions.ts';
import type { DecidingRule, RuleMatch, RuleTerm, Ruling, Taint } from '../events/rules.ts';

/** What a rule matches, in words that are no wider and no narrower than the rule. */
export function toMatchWords(match: RuleMatch): string {
  const { tool, command, program, args, argsStart, path, access, host, node, nodeCommand } = match;
  const words = [
    ...(command === undefined ? [] : [`exactly “${command}”`]),
    ...(program === undefined ? [] : [toProgramWords(program, { args, argsStart })]),
    ...(path === undefined ? [] : [`${ACCESS[access ?? 'any']} ${path} and below`]),
    ...(host === undefined ? [] : [`connections to ${host}`]),
    ...(nodeCommand === undefined && node === undefined ? [] : [`${nodeCommand ?? 'anything'} on node ${node ?? '*'}`]),
    ...(tool === undefined ? [] : [`the tool ${tool}`]),
  ];
  return words.join(', ');
}

const ACCESS = { read: 'reading', write: 'changing', any: 'using' } as const;

function toProgramWords(program: string, { args, argsStart }: Pick<RuleMatch, 'args' | 'argsStart'>): string {
  if (args !== undefined) return `exactly “${[program, ...args].join(' ')}”`;
  return argsStart === undefined
    ? `any “${program}”`
    : `commands that begin with “${[program, ...argsStart].join(' ')}”`;
}

/** How long a rule holds. */
export const TERM_WORDS: Record<RuleTerm, string> = {
  hour: 'for 1 hour',
  conversation: 'in this conversation',
  always: 'for good, in this folder',
};

/** Why a call asks, runs unasked or is blocked, in a few words; undefined if there is nothing to say. */
export function toRulingWords({ verdict, reason, rule, taint }: Ruling): string | undefined {
  switch (reason) {
    case 'tool':
    case 'not_sandboxed':
    case 'repeated':
      return undefined; // said in other lines, or the usual case
    case 'rule':
      return rule && `${RULE_WORDS[rule.action]}: ${toMatchWords(rule.match)}`;
    case 'policy':
      return rule && POLICY_WORDS[rule.action];
    case 'unclear':
      return `asked because a rule may forbid it${rule ? `: ${toMatchWords(rule.match)}` : ''}`;
    case 'tainted':
      return `asked because the conversation has read ${taint ? toTaintWords(taint) : 'untrusted content'}`;
    case 'mode':
      return verdict === 'block' ? 'blocked: this conversation is read-only' : 'allowed by the mode';
    default:
      return REASON_WORDS[reason];
  }
}

const RULE_WORDS: Record<DecidingRule['action'], string> = {
  allow: 'allowed by rule',
  ask: 'asked by rule',
  deny: 'blocked by rule',
};

const REASON_WORDS = {
  harmless: 'harmless: only reads',
  blanket: 'everything is allowed here',
  auto_approve_tools: 'allowed for this tool',
  job: 'allowed by its job',
  judge: 'approved by the judge',
} as const;

/** What a conversation has read that nobody trusts. */
function toTaintWords({ kind, tool, target }: Taint): string {
  const from = target === undefined ? '' : ` (${target})`;
  switch (kind) {
    case 'node':
      return `an answer of another machine${from}`;
    case 'network':
      return `something from the network${from}`;
    case 'unknown':
      return `the output of a command whose effects are not known${from}`;
    case 'outside':
      return `files outside its folders${from}`;
    case 'message':
      return 'a message of someone who may not approve';
    case 'summary':
      return `content that is summarized now${tool === undefined ? '' : ` (${tool})`}`;
  }
}

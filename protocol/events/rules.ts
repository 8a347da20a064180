import { z } from 'zod';
import { optionalText } from '../frames.ts';
import { POLICY_ACTIONS } from './policy-actions.ts';

const Text = z.string().min(1);

/**
 * Which calls a rule is about: those that match all given fields. For `allow`, everything that a command runs and does must be
 * matched by such a rule or harmless; for `ask` and `deny`, any part of it is enough.
 */
export const RuleMatch = z
  .strictObject({
    /** Names of tools and approval labels: `*` stands for any characters, `?` for one. */
    tool: Text.max(256).optional(),
    /** The exact text of a shell command. */
    command: Text.max(4_096).optional(),
    /** A program that a shell command runs: its name, or its path if it has one there. */
    program: Text.max(256).optional(),
    /** Exactly these arguments of the program. */
    args: z.array(z.string().max(1_024)).max(64).optional(),
    /** The arguments of the program begin so. */
    argsStart: z.array(z.string().max(1_024)).min(1).max(64).optional(),
    /** The absolute path of a file, or of a folder with everything below it. */
    path: Text.max(4_096).optional(),
    /** How the path is used; absent: in any way. `write` includes deleting. */
    access: z.enum(['read', 'write']).optional(),
    /** A host; with a leading `*.`, all hosts below it. */
    host: Text.max(256).optional(),
    /** The id of a node. */
    node: Text.max(128).optional(),
    /** A command of a node. */
    nodeCommand: Text.max(128).optional(),
  })
  .meta({ id: 'RuleMatch' });
export type RuleMatch = z.infer<typeof RuleMatch>;

/** How long a rule holds that is given with a decision: an hour, until the conversation ends, or for good. */
export const RULE_TERMS = ['hour', 'conversation', 'always'] as const;
/** One of RULE_TERMS. */
export type RuleTerm = (typeof RULE_TERMS)[number];

/** What a suggested rule is about. `prefix`: the program with its first arguments. */
const SUGGESTION_KINDS = ['command', 'prefix', 'program', 'path', 'host', 'node', 'tool'] as const;

/** A rule that a person may give with the decision about a call. */
export const SuggestedRule = z
  .object({
    /** Names it in the decision. */
    id: z.string(),
    kind: z.enum(SUGGESTION_KINDS),
    match: RuleMatch,
    /** The terms that the rule may have. */
    terms: z.array(z.enum(RULE_TERMS)),
  })
  .meta({ id: 'SuggestedRule' });
export type SuggestedRule = z.infer<typeof SuggestedRule>;

/** The choice of a suggested rule. */
export const RuleChoice = z
  .strictObject({
    /** The call that it was suggested for; absent if only one call of the question asks. */
    callId: optionalText(256),
    /** The id of the suggestion. */
    id: z.string().max(64),
    term: z.enum(RULE_TERMS),
  })
  .meta({ id: 'RuleChoice' });
export type RuleChoice = z.infer<typeof RuleChoice>;

/** Where a rule holds: in a workstream, in a folder, for a user, or everywhere. */
const RULE_PLACES = ['workstream', 'folder', 'user', 'everywhere'] as const;

/** What untrusted content a conversation has read since the last message of a person. */
export const Taint = z
  .object({
    /**
     * `node`: the answer of another machine; `network`: the output of a command that reaches a network; `unknown`: that of a
     * command whose effects are not known; `outside`: files outside the folders of the workstream; `message`: a message of a
     * caller without the approve scope; `summary`: earlier messages, of which only a summary is left; `memory`: a memory, or an
     * earlier conversation, that came from such content; `skill`: a skill that strangers wrote.
     */
    kind: z.enum(['node', 'network', 'unknown', 'outside', 'message', 'summary', 'memory', 'skill']),
    /** The call that read it. */
    call_id: z.string().optional(),
    tool: z.string().optional(),
    target: z.string().optional(),
  })
  .meta({ id: 'Taint' });
export type Taint = z.infer<typeof Taint>;

/**
 * Why a call runs, asks or is blocked. `tool`: the tool says whether it needs approval; `rule`, `policy`: that rule or tool
 * policy; `unclear`: a rule that denies might match, because the command is not known completely; `harmless`: it only reads
 * the folders of the workstream; `mode`: the mode of the workstream; `blanket`: auto-approve for all tools;
 * `auto_approve_tools`, `job`: the tool is on that list; `judge`: the judge's verdict; `tainted`: the conversation has read
 * untrusted content; `not_sandboxed`: it would run without a sandbox; `repeated`: the run made the same call before;
 * `protected`: it changes what programs outside the sandbox run or obey; `hosts`: an earlier attempt of the same command could
 * not reach hosts that the command does not name; `hook`: a hook blocked it.
 */
const RULING_REASONS = [
  'tool',
  'rule',
  'policy',
  'unclear',
  'harmless',
  'mode',
  'blanket',
  'auto_approve_tools',
  'job',
  'judge',
  'tainted',
  'not_sandboxed',
  'repeated',
  'protected',
  'hosts',
  'hook',
] as const;

/** The rule that decided about a call, as far as everybody may know it who sees the call. */
export const DecidingRule = z.object({
  /** The id of a rule, or of a tool policy. */
  rule_id: z.string(),
  source: z.enum(['rule', 'policy']),
  action: z.enum(POLICY_ACTIONS),
  place: z.enum(RULE_PLACES),
  /** The name of a tool policy. */
  name: z.string().optional(),
  match: RuleMatch,
});
export type DecidingRule = z.infer<typeof DecidingRule>;

/** What was decided about a call that has ended, as far as it is stored with its result. */
export const pastRulingShape = {
  verdict: z.enum(['run', 'ask', 'block']),
  reason: z.enum(RULING_REASONS),
  rule: DecidingRule.omit({ name: true, match: true }).optional(),
};

/** What was decided about a call: less is known once it is read from the history. */
export type PastRuling = Omit<Ruling, 'rule'> & {
  rule?: (Omit<DecidingRule, 'name' | 'match'> & Partial<Pick<DecidingRule, 'name' | 'match'>>) | undefined;
};

/** What is decided about a call, and why. */
export const Ruling = z
  .object({
    ...pastRulingShape,
    rule: DecidingRule.optional(),
    /** What the conversation has read, if that is why a call asks that would run otherwise. */
    taint: Taint.optional(),
    /** Protected paths that the call changes, whatever decided; a call that is allowed may write them. */
    protected_paths: z.array(z.string()).optional(),
    /** Hosts that an earlier attempt of the same command could not reach; if it is allowed, this one reaches them. */
    hosts: z.array(z.string()).optional(),
  })
  .meta({ id: 'Ruling' });
export type Ruling = z.infer<typeof Ruling>;

import { z } from 'zod';

/** How many effects a call lists; `more` counts the rest. */
export const MAX_LISTED_EFFECTS = 12;

/**
 * What a call does. `process`: it ends processes or leaves some running. `privilege`: it acts as another user or changes
 * rights. `system`: it changes the machine, such as packages or services. `unknown`: effects that nothing here tells.
 */
export const EffectKind = z.enum(['read', 'write', 'delete', 'network', 'privilege', 'process', 'system', 'unknown']);
export type EffectKind = z.infer<typeof EffectKind>;

/**
 * Why the effects of a command may be incomplete. `unknown_program`: the name of a program depends on a variable or an
 * output. `unknown_code`: it runs code that is not in the command. `changed_environment`: it sets variables that
 * programs obey. `unknown_words`: arguments depend on variables, outputs or file names.
 */
export const IncompleteReason = z.enum([
  'not_parsed',
  'too_long',
  'control_characters',
  'unknown_program',
  'unknown_code',
  'changed_environment',
  'alias',
  'arithmetic',
  'unknown_words',
]);
export type IncompleteReason = z.infer<typeof IncompleteReason>;

/** One effect of a tool call. */
export const CallEffect = z.object({
  kind: EffectKind,
  /** The path, host or program as the call names it; absent if it names none. */
  target: z.string().optional(),
  /** Whether the target is exactly that; otherwise it depends on variables, file names or code. */
  certain: z.boolean(),
});
export type CallEffect = z.infer<typeof CallEffect>;

/** What a tool call does, as far as its arguments tell. Nothing is allowed or denied by it. */
export const CallEffects = z
  .object({
    list: z.array(CallEffect).max(MAX_LISTED_EFFECTS),
    /** Effects beyond those listed. Each kind is listed at least once. */
    more: z.int().min(1).optional(),
    /** Set when there may be other effects. */
    incomplete: IncompleteReason.optional(),
  })
  .meta({ id: 'CallEffects' });
export type CallEffects = z.infer<typeof CallEffects>;

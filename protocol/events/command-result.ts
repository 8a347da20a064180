import { z } from 'zod';

/** A host that a command did not reach. */
const RefusedHost = z.object({
  host: z.string(),
  port: z.int(),
  /** `not_allowed`: nothing allows it; `rule`: a permission rule denies it; `address`: its address is private or reserved. */
  reason: z.enum(['not_allowed', 'rule', 'address']),
  /** The rule that denies it. */
  rule_id: z.string().optional(),
});
export type RefusedHost = z.infer<typeof RefusedHost>;

const CommandLimit = z.enum(['processes', 'memory', 'file_size']);
export type CommandLimit = z.infer<typeof CommandLimit>;

/** What is known about a command that was run, beside its output. */
export const commandResultShape = {
  /** The limit that ended the command, or processes of it. */
  limit: CommandLimit.optional(),
  /** Hosts that it did not reach because that is not allowed. */
  refused_hosts: z.array(RefusedHost).optional(),
};

/** What is known about a call, beside its output. */
export const callResultShape = {
  /** Of a command that was not stopped. */
  exit_code: z.int().optional(),
  /** How long the call ran; absent if it did not run. */
  duration_ms: z.int().min(0).optional(),
  /** Set when the call ran without the sandbox: why. */
  not_sandboxed: z.string().optional(),
  /** If its text contains only the two ends of the full output: the bytes of all of it, for `output.read`. */
  whole_bytes: z.int().min(0).optional(),
  ...commandResultShape,
};

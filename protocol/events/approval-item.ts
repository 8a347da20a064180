import { z } from 'zod';
import { CallEffects } from './call-effects.ts';
import { POLICY_ACTIONS } from './policy-actions.ts';
import { AskedPlan } from './questions/asked-plan.ts';
import { AskedQuestion } from './questions/asked-question.ts';
import { Ruling, SuggestedRule } from './rules.ts';
import { Verdict } from './verdict.ts';

/**
 * Why a call that needs approval runs unasked. `blanket`: auto-approve for all tools; `job`: the job allows the tool; `always`: a
 * permission rule allows it; `harmless`: it only reads the folders of the workstream; `mode`: the mode of the workstream allows
 * it; `smart_approval`: the judge approved it.
 */
const AutoApproveReason = z.enum([
  'policy',
  'blanket',
  'auto_approve_tools',
  'job',
  'always',
  'harmless',
  'mode',
  'smart_approval',
]);
export type AutoApproveReason = z.infer<typeof AutoApproveReason>;

/** One tool call of a batch, as a person sees it before it runs. */
export const ApprovalItem = z
  .object({
    call_id: z.string(),
    /** The function name and the subject in one line. */
    header: z.string(),
    /** What the call works on, such as a command or a path, in one line; absent if there is nothing to name. */
    subject: z.string().optional(),
    preview: z.string(),
    /** Set when `preview` is a unified diff, perhaps with remarks above it; otherwise it is plain text. */
    preview_type: z.literal('diff').optional(),
    func_name: z.string(),
    approval_label: z.string(),
    needs_approval: z.boolean(),
    error: z.string().nullable(),
    /**
     * Why a person is asked although the call may need no approval: the run made the same call this many times before,
     * with the same result.
     */
    repeated: z.int().min(1).optional(),
    /** Set when the call will run, or ran, without the sandbox: why. */
    not_sandboxed: z.string().optional(),
    /** Set when the agent asks to run the command outside the sandbox: its reason. */
    sandbox_off: z.string().optional(),
    /** Set when the command goes on in the background: how many seconds it may run. */
    background_secs: z.int().min(1).optional(),
    /** It needs no answer: without the other calls of the turn, nobody would be asked. */
    auto_approved: z.literal(true).optional(),
    auto_approve_reason: AutoApproveReason.optional(),
    /** Set if the call is a question to a person: approving it answers it, with `answer` or `choice` of its decision. */
    question: AskedQuestion.optional(),
    /** The plan, if the approval is about one: approving it accepts it, and denying it with words asks for another. */
    plan: AskedPlan.optional(),
    /** The tool policy that matches it first. */
    policy: z.object({ policy_id: z.string(), name: z.string(), action: z.enum(POLICY_ACTIONS) }).optional(),
    /** What the call does, as far as its arguments tell; absent if that is not known for this tool. */
    effects: CallEffects.optional(),
    /** How the rules of the judge rate it; only in questions, and only while the judge is on. */
    verdict: Verdict.optional(),
    /** The same, under the name of later versions of the specification. */
    heuristic_verdict: Verdict.optional(),
    /** What is decided about the call, and why; absent if its tool needs no approval, and in items of earlier versions. */
    ruling: Ruling.optional(),
    /** The rules that a person may give with the decision; absent if nobody is asked about this call. */
    rules: z.array(SuggestedRule).optional(),
  })
  .meta({ id: 'ApprovalItem' });
export type ApprovalItem = z.infer<typeof ApprovalItem>;

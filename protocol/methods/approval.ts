import { z } from 'zod';
import { contract } from '../contract.ts';
import { ApprovalItem } from '../events/approval-item.ts';
import { RuleChoice } from '../events/rules.ts';
import { ModelVerdict } from '../events/verdict.ts';
import { NonEmpty, optionalText } from '../frames.ts';
import { LIMITS } from '../limits.ts';
import { BudgetQuestion } from '../run-outcome.ts';
import { QuestionKind } from '../stream-events.ts';
import { DECIDING } from './accounts/permissions.ts';

/** A pending approval; also the payload of `approval.requested`. */
export const Approval = z
  .strictObject({
    approvalId: NonEmpty,
    wsId: NonEmpty,
    sessionKey: NonEmpty,
    kind: QuestionKind,
    items: z.array(ApprovalItem),
    /** The sub-agent that asks; absent: the agent of the conversation. */
    agentId: NonEmpty.optional(),
    /** If the kind is `budget`. */
    budget: BudgetQuestion.optional(),
    expiresAtMs: z.int().min(0),
  })
  .meta({ id: 'Approval' });
export type Approval = z.infer<typeof Approval>;

/** What a list of approvals has in addition. */
const LISTED = {
  /** When it was asked. */
  askedAtMs: z.int().min(0),
  /** What the judge's model has said about its calls so far; absent if that is nothing. */
  modelVerdicts: z.array(ModelVerdict).optional(),
};

/** What is decided about single calls of an approval, by their ids. */
export const CallDecisions = z
  .record(
    z.string().max(256),
    z.strictObject({
      approved: z.boolean(),
      feedback: optionalText(16_384),
      /** To a question of the agent: any text, also none. */
      answer: z.string().max(LIMITS.answerChars).optional(),
      /** The label of one of its choices. */
      choice: optionalText(200),
    }),
  )
  .meta({ id: 'CallDecisions' });
export type CallDecisions = z.infer<typeof CallDecisions>;

/** The finer parts of a decision: about single calls, and the rules that are given with it. */
export const FINER = {
  /** Calls that are decided otherwise than `approved` says. */
  decisions: CallDecisions.optional(),
  /** Rules among those that the approval suggests. */
  rules: z.array(RuleChoice).max(32).optional(),
};

/** Pending approvals, and their decisions. */
export const approvalContracts = {
  'approval.list': contract({
    summary: 'The pending approvals, oldest first.',
    scope: 'approve',
    permission: DECIDING,
    params: () => z.strictObject({ wsId: optionalText() }).meta({ id: 'ApprovalListParams' }),
    result: () => z.strictObject({ approvals: z.array(Approval.extend(LISTED)) }).meta({ id: 'ApprovalListResult' }),
  }),
  'approval.resolve': contract({
    summary: 'Decide one approval. An unknown one is NOT_FOUND, an already decided one CONFLICT.',
    scope: 'approve',
    permission: DECIDING,
    audit: { action: 'approval.resolve', id: 'approvalId', by: 'handler' },
    stepUp: ({ always, rules = [] }) => always === true || rules.length > 0,
    params: () =>
      z
        .strictObject({
          approvalId: NonEmpty,
          approved: z.boolean(),
          feedback: optionalText(16_384),
          /** With approved: later calls in this workstream skip approval. */
          always: z.boolean().optional(),
          ...FINER,
        })
        .meta({ id: 'ApprovalResolveParams' }),
    result: () =>
      z
        .strictObject({ ok: z.literal(true), approvalId: NonEmpty, approved: z.boolean() })
        .meta({ id: 'ApprovalResolveResult' }),
  }),
};

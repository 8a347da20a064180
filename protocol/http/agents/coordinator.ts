import { z } from 'zod';
import {
  ChildState,
  CLOSE_REASON_BYTES,
  REVOKED_AT_ONCE,
  TASK_STATES,
  TOOL_NAME_CHARS,
} from '../../methods/conversation/coordinator.ts';
import { WORKSTREAM_KINDS } from '../../methods/conversation/kinds.ts';
import { endpoint } from '../endpoint.ts';

const Place = { ws_id: z.string() };
const UNKNOWN = { 404: 'coordinator not found' } as const;
const Ids = z.array(z.string());

const NO_SEND = "body must carry {'send': bool}";
const NO_REVOKE = "body must carry {'revoke': [<tool_name>, ...]}";
const MANY_REVOKED = `revoke list exceeds ${REVOKED_AT_ONCE} entries`;
const LONG_NAME = `tool names must be <= ${TOOL_NAME_CHARS} chars`;
const LONG_REASON = `reason must have at most ${CLOSE_REASON_BYTES} bytes`;

const isNames = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((name) => typeof name === 'string' && name !== '');
const bytesIn = (value: string): number => new TextEncoder().encode(value).length;

const FAMILIES = ['coordinator', 'workstreams'] as const;

/** The same three endpoints exist below two paths: that of the specification, and that of later releases. */
const inFamily = <F extends (typeof FAMILIES)[number]>(family: F) =>
  ({
    trust: endpoint({
      verb: 'post',
      path: `/v1/api/${family}/{ws_id}/trust`,
      summary: 'Let messages of a coordinator to workstreams below it go without asking, or not.',
      scope: 'approve',
      request: () =>
        z
          // Checked by a refinement of the whole request, because the refusal has words of its own.
          .object({ ...Place, send: z.unknown().optional().meta({ type: 'boolean' }) })
          .refine(({ send }) => typeof send === 'boolean', NO_SEND),
      reply: () => z.object({ status: z.literal('ok'), trust_send: z.boolean(), trust_until_ms: z.int().optional() }),
      errors: { 400: NO_SEND, ...UNKNOWN },
    }),
    restrict: endpoint({
      verb: 'post',
      path: `/v1/api/${family}/{ws_id}/restrict`,
      summary: 'Take tools away from a coordinator and everything below it, for good.',
      scope: 'approve',
      request: () =>
        z
          .object({
            ...Place,
            revoke: z
              .unknown()
              .optional()
              .meta({ type: 'array', items: { type: 'string' } }),
          })
          .superRefine(({ revoke }, { addIssue }) => {
            const problem = revokeProblem(revoke);
            if (problem !== undefined) addIssue({ code: 'custom', message: problem });
          }),
      reply: () => z.object({ status: z.literal('ok'), revoked_tools: Ids }),
      errors: { 400: `${NO_REVOKE}, ${MANY_REVOKED}, or ${LONG_NAME}`, ...UNKNOWN },
    }),
    stop: endpoint({
      verb: 'post',
      path: `/v1/api/${family}/{ws_id}/stop_cascade`,
      summary: 'Cancel what a coordinator and its own children do now.',
      scope: 'approve',
      request: () => z.object(Place),
      reply: () => z.object({ status: z.literal('ok'), cancelled: Ids, failed: Ids, skipped: Ids }),
      errors: UNKNOWN,
    }),
  }) as const;

function revokeProblem(revoke: unknown): string | undefined {
  if (!isNames(revoke)) return NO_REVOKE;
  if (revoke.length > REVOKED_AT_ONCE) return MANY_REVOKED;
  return revoke.some((name) => name.length > TOOL_NAME_CHARS) ? LONG_NAME : undefined;
}

const specified = inFamily('coordinator');
const later = inFamily('workstreams');

/** Coordinators and what works for them (HTTP.md, "Coordinators"). */
export const coordinatorEndpoints = {
  trust: specified.trust,
  restrict: specified.restrict,
  stop: specified.stop,
  trustLater: later.trust,
  restrictLater: later.restrict,
  stopLater: later.stop,
  close: endpoint({
    verb: 'post',
    path: '/v1/api/workstreams/{ws_id}/close_all_children',
    summary: 'Close the own children of a coordinator; their conversations stay saved.',
    scope: 'approve',
    request: () =>
      z
        .object({
          ...Place,
          /** Stored in the audit trail. */
          reason: z.string().nullish(),
        })
        .refine(({ reason }) => bytesIn(reason ?? '') <= CLOSE_REASON_BYTES, LONG_REASON),
    reply: () => z.object({ status: z.literal('ok'), closed: Ids, failed: Ids, skipped: Ids }),
    errors: { 400: LONG_REASON, ...UNKNOWN },
  }),
  children: endpoint({
    verb: 'get',
    path: '/v1/api/workstreams/{ws_id}/children',
    summary: 'The own children of a coordinator, in the order of their creation.',
    scope: 'read',
    request: () => z.object({ ...Place, limit: z.coerce.number().int().min(1).max(500).optional() }),
    reply: () =>
      z.object({
        items: z.array(
          z.object({
            ws_id: z.string(),
            node_id: z.string(),
            name: z.string(),
            state: ChildState,
            created: z.string(),
            updated: z.string(),
            kind: z.enum(WORKSTREAM_KINDS),
            parent_ws_id: z.string(),
            /** The name of the template that it was created with; empty: none. */
            skill_id: z.string(),
            skill_version: z.string(),
          }),
        ),
        truncated: z.boolean(),
      }),
    errors: UNKNOWN,
  }),
  tasks: endpoint({
    verb: 'get',
    path: '/v1/api/workstreams/{ws_id}/tasks',
    summary: 'The list of tasks that a coordinator keeps.',
    scope: 'read',
    request: () => z.object(Place),
    reply: () =>
      z.object({
        version: z.literal(1),
        tasks: z.array(
          z.object({
            id: z.string(),
            title: z.string(),
            status: z.enum(TASK_STATES),
            child_ws_id: z.string(),
            note: z.string(),
            created: z.string(),
            updated: z.string(),
          }),
        ),
      }),
    errors: UNKNOWN,
  }),
  metrics: endpoint({
    verb: 'get',
    path: '/v1/api/workstreams/{ws_id}/metrics',
    summary: 'Figures of a coordinator: its children, its waits, and how often the judge gave no verdict.',
    scope: 'read',
    request: () => z.object(Place),
    reply: () =>
      z.object({
        ws_id: z.string(),
        spawns_total: z.int(),
        spawns_last_hour: z.int(),
        child_state_counts: z.partialRecord(ChildState, z.int()),
        judge_fallback_rate: z.number(),
        intent_verdicts_sample: z.int(),
        wait_completions: z.int(),
        wait_timeouts: z.int(),
        /** In seconds. */
        wait_avg_elapsed: z.number(),
      }),
    errors: UNKNOWN,
  }),
};

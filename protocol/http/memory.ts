import { z } from 'zod';
import { endpoint } from './endpoint.ts';

const Memory = z.object({
  memory_id: z.string(),
  name: z.string(),
  description: z.string(),
  type: z.string(),
  scope: z.string(),
  scope_id: z.string(),
  content: z.string(),
  created: z.string(),
  updated: z.string(),
});

const AdminMemory = Memory.extend({ last_accessed: z.string().nullable(), access_count: z.number() });

const QuarantinedMemory = Memory.omit({ updated: true }).extend({
  taint: z.object({
    kind: z.string(),
    call_id: z.string().optional(),
    tool: z.string().optional(),
    target: z.string().optional(),
  }),
  ws_id: z.string().optional(),
  call_id: z.string().optional(),
});

const page = <M extends z.ZodType>(memory: M) =>
  z.object({ memories: z.array(memory), total: z.number(), truncated: z.literal(true).optional() });

/** A value of another type is shown to the method, which names what it accepts. */
const loose = z.coerce.string().nullish();
const text = z.string().catch('').default('');
/** Checked by `isWhole`, because the specification words the refusal without the field in front. */
export const Limit = z.unknown().optional().meta({ type: 'integer' });

const Place = { scope: loose, scope_id: loose };
const Filters = { type: loose, ...Place };

/** Whether a limit is an integer, or absent. */
export const isWhole = ({ limit }: { limit?: unknown }): boolean =>
  limit === undefined || limit === null || limit === '' || /^[+-]?\d+$/.test(String(limit));
/** The text of a 400 for any other limit. */
export const NOT_WHOLE = 'limit must be an integer';

const Deleted = z.object({ status: z.literal('ok'), name: z.string() });

/** What people and agents want remembered (HTTP.md, "Memories"). */
export const memoryEndpoints = {
  list: endpoint({
    verb: 'get',
    path: '/v1/api/memories',
    summary: 'Memories that the caller may see, the last saved first.',
    scope: 'read',
    request: () => z.object({ ...Filters, limit: Limit }).refine(isWhole, NOT_WHOLE),
    reply: () => page(Memory),
    errors: { 400: NOT_WHOLE },
  }),
  save: endpoint({
    verb: 'post',
    path: '/v1/api/memories',
    summary: 'Save a memory, or replace the one of this name and scope.',
    scope: 'write',
    request: () => z.object({ name: text, content: text, description: text, ...Filters }),
    reply: () => Memory,
    status: '200 or 201',
    errors: { 400: 'content exceeds 65536 character limit', 404: 'Unknown workstream', 409: 'Memory limit reached' },
  }),
  search: endpoint({
    verb: 'post',
    path: '/v1/api/memories/search',
    summary: 'Memories that contain all words of a query, the last saved first.',
    scope: 'read',
    request: () => z.object({ query: text, ...Filters, limit: Limit }).refine(isWhole, NOT_WHOLE),
    reply: () => page(Memory),
    errors: { 400: 'query is required' },
  }),
  get: endpoint({
    verb: 'get',
    path: '/v1/api/memories/{name}',
    summary: 'The memory of a name and scope.',
    scope: 'read',
    request: () => z.object({ name: z.string(), ...Place }),
    reply: () => Memory,
    errors: { 404: "Memory 'x' not found" },
  }),
  remove: endpoint({
    verb: 'delete',
    path: '/v1/api/memories/{name}',
    summary: 'Delete the memory of a name and scope.',
    scope: 'write',
    request: () => z.object({ name: z.string(), ...Place }),
    reply: () => Deleted,
    errors: { 404: "Memory 'x' not found" },
  }),
  quarantined: endpoint({
    verb: 'get',
    path: '/v1/api/quarantined-memories',
    summary: 'Memories that wait until a person has looked at them, the last saved first.',
    scope: 'read',
    request: () => z.object({ ...Filters, limit: Limit }).refine(isWhole, NOT_WHOLE),
    reply: () => page(QuarantinedMemory),
    errors: { 400: NOT_WHOLE },
  }),
  release: endpoint({
    verb: 'post',
    path: '/v1/api/quarantined-memories/{memory_id}/release',
    summary: 'Make a waiting memory one like others, which agents find.',
    scope: 'approve',
    request: () => z.object({ memory_id: z.string() }),
    reply: () => Memory,
    status: '200 or 201',
    errors: { 404: 'Memory not found' },
  }),
  discard: endpoint({
    verb: 'delete',
    path: '/v1/api/quarantined-memories/{memory_id}',
    summary: 'Delete a waiting memory.',
    scope: 'write',
    request: () => z.object({ memory_id: z.string() }),
    reply: () => Deleted,
    errors: { 404: 'Memory not found' },
  }),
  adminList: endpoint({
    verb: 'get',
    path: '/v1/api/admin/memories',
    summary: 'Memories of everyone with their use, the last saved first.',
    scope: 'approve',
    request: () => z.object({ ...Filters, limit: Limit }).refine(isWhole, NOT_WHOLE),
    reply: () => page(AdminMemory),
    errors: { 400: NOT_WHOLE },
  }),
  adminSearch: endpoint({
    verb: 'get',
    path: '/v1/api/admin/memories/search',
    summary: 'Memories of everyone that contain all words of a query, with their use.',
    scope: 'approve',
    request: () =>
      z
        .object({ q: text, ...Filters, limit: Limit })
        .refine(({ q }) => q.trim() !== '', 'q is required')
        .refine(isWhole, NOT_WHOLE),
    reply: () => page(AdminMemory),
    errors: { 400: 'q is required' },
  }),
  adminGet: endpoint({
    verb: 'get',
    path: '/v1/api/admin/memories/{memory_id}',
    summary: 'A memory of anyone, with its use.',
    scope: 'approve',
    request: () => z.object({ memory_id: z.string() }),
    reply: () => AdminMemory,
    errors: { 404: 'Memory not found' },
  }),
  adminRemove: endpoint({
    verb: 'delete',
    path: '/v1/api/admin/memories/{memory_id}',
    summary: 'Delete a memory of anyone.',
    scope: 'approve',
    request: () => z.object({ memory_id: z.string() }),
    reply: () => Deleted,
    errors: { 404: 'Memory not found' },
  }),
};

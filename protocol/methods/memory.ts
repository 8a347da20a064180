import { z } from 'zod';
import { contract } from '../contract.ts';
import { Taint } from '../events/rules.ts';
import { NonEmpty, optionalText } from '../frames.ts';
import { DECIDING } from './accounts/permissions.ts';

/** What a memory is about. */
export const MemoryType = z.enum(['user', 'project', 'feedback', 'reference']);
export type MemoryType = z.infer<typeof MemoryType>;

/** Whom a memory concerns: everyone, a workstream, or only the user who saved it. */
export const MemoryScope = z.enum(['global', 'workstream', 'user']);
export type MemoryScope = z.infer<typeof MemoryScope>;

const AtMs = z.int().min(0);

/** Something to remember. Its name is unique in its scope. */
export const Memory = z
  .strictObject({
    memoryId: z.string(),
    /** In lower case, with `_` for spaces and hyphens. */
    name: z.string(),
    description: z.string(),
    type: MemoryType,
    scope: MemoryScope,
    /** A workstream or a user; empty for the scope `global`. */
    scopeId: z.string(),
    content: z.string(),
    createdAtMs: AtMs,
    updatedAtMs: AtMs,
  })
  .meta({ id: 'Memory' });
export type Memory = z.infer<typeof Memory>;

/** A memory with its use. Searching and reading count; lists and administrators do not. */
export const AdminMemory = Memory.extend({
  lastAccessedAtMs: AtMs.nullable(),
  accessCount: z.int().min(0),
}).meta({ id: 'AdminMemory' });
export type AdminMemory = z.infer<typeof AdminMemory>;

const page = <M extends z.ZodType>(memory: M) =>
  z.strictObject({
    memories: z.array(memory),
    /** How many memories this answer has. */
    total: z.int().min(0),
    /** Further ones within the limit are left out, because the answer would be too large. */
    truncated: z.literal(true).optional(),
  });

/** What an agent saved after it had read untrusted content. Nobody but people finds it, until one has released it. */
export const QuarantinedMemory = z
  .strictObject({
    ...Memory.omit({ updatedAtMs: true }).shape,
    /** What the agent had read. */
    taint: Taint,
    /** The workstream of the agent, and its call; absent if the caller may not know of it. */
    wsId: z.string().optional(),
    callId: z.string().optional(),
  })
  .meta({ id: 'QuarantinedMemory' });
export type QuarantinedMemory = z.infer<typeof QuarantinedMemory>;

/** The handler refuses unknown values, with the words of the specification. */
const Place = { scope: optionalText(64), scopeId: optionalText(256) };
const Filters = { type: optionalText(64), ...Place };
const ListLimit = z.int().min(1).max(200).optional();
const SearchLimit = z.int().min(1).max(50).optional();
/** Long enough that the handler can say what is wrong with a name. */
const Name = z.string().max(4_096);
const Query = z.string().max(65_536);
const MemoryId = NonEmpty.max(64);
const Deleted = z.strictObject({ status: z.literal('ok'), name: z.string() });

/** What people and agents want remembered. */
export const memoryContracts = {
  'memory.list': contract({
    summary: 'Memories that the caller may see, the last saved first; 100 unless `limit` says otherwise.',
    scope: 'read',
    params: () => z.strictObject({ ...Filters, limit: ListLimit }).meta({ id: 'MemoryListParams' }),
    result: () => page(Memory).meta({ id: 'MemoryListResult' }),
  }),
  'memory.save': contract({
    summary: 'Save a memory, or replace the one of this name and scope.',
    scope: 'write',
    audit: { action: 'memory.save' },
    params: () =>
      z
        .strictObject({
          name: Name,
          /** At most 65 536 characters. */
          content: z.string(),
          /** Default: the description of the replaced memory. */
          description: optionalText(4_096),
          ...Filters,
        })
        .meta({ id: 'MemorySaveParams' }),
    result: () => z.strictObject({ memory: Memory, created: z.boolean() }).meta({ id: 'MemorySaveResult' }),
  }),
  'memory.search': contract({
    summary: 'Memories that contain all words of a query, the last saved first; 20 unless `limit` says otherwise.',
    scope: 'read',
    params: () => z.strictObject({ query: Query, ...Filters, limit: SearchLimit }).meta({ id: 'MemorySearchParams' }),
    result: () => page(Memory).meta({ id: 'MemorySearchResult' }),
  }),
  'memory.get': contract({
    summary: 'The memory of a name and scope.',
    scope: 'read',
    params: () => z.strictObject({ name: Name, ...Place }).meta({ id: 'MemoryGetParams' }),
    result: () => Memory,
  }),
  'memory.delete': contract({
    summary: 'Delete the memory of a name and scope.',
    scope: 'write',
    audit: { action: 'memory.delete' },
    params: () => z.strictObject({ name: Name, ...Place }).meta({ id: 'MemoryDeleteParams' }),
    result: () => Deleted.meta({ id: 'MemoryDeleteResult' }),
  }),
  'memory.quarantine.list': contract({
    summary:
      'Memories that wait until a person has looked at them, the last saved first; 100 unless `limit` says otherwise.',
    scope: 'read',
    params: () => z.strictObject({ ...Filters, limit: ListLimit }).meta({ id: 'QuarantineListParams' }),
    result: () => page(QuarantinedMemory).meta({ id: 'QuarantineListResult' }),
  }),
  'memory.quarantine.release': contract({
    summary: 'Make a waiting memory one like others, which agents find. It replaces the one of its name and scope.',
    scope: 'approve',
    permission: [...DECIDING, 'admin.memories'],
    audit: { action: 'memory.release', id: 'memoryId' },
    params: () => z.strictObject({ memoryId: MemoryId }).meta({ id: 'QuarantineReleaseParams' }),
    result: () => z.strictObject({ memory: Memory, created: z.boolean() }).meta({ id: 'QuarantineReleaseResult' }),
  }),
  'memory.quarantine.discard': contract({
    summary: 'Delete a waiting memory.',
    scope: 'write',
    audit: { action: 'memory.discard', id: 'memoryId' },
    params: () => z.strictObject({ memoryId: MemoryId }).meta({ id: 'QuarantineDiscardParams' }),
    result: () => Deleted.meta({ id: 'QuarantineDiscardResult' }),
  }),
  'memory.admin.list': contract({
    summary: 'Memories of everyone with their use, the last saved first.',
    scope: 'approve',
    permission: 'admin.memories',
    params: () => z.strictObject({ ...Filters, limit: ListLimit }).meta({ id: 'MemoryAdminListParams' }),
    result: () => page(AdminMemory).meta({ id: 'MemoryAdminListResult' }),
  }),
  'memory.admin.search': contract({
    summary: 'Memories of everyone that contain all words of a query, with their use, the last saved first.',
    scope: 'approve',
    permission: 'admin.memories',
    params: () =>
      z.strictObject({ query: Query, ...Filters, limit: SearchLimit }).meta({ id: 'MemoryAdminSearchParams' }),
    result: () => page(AdminMemory).meta({ id: 'MemoryAdminSearchResult' }),
  }),
  'memory.admin.get': contract({
    summary: 'A memory of anyone, with its use.',
    scope: 'approve',
    permission: 'admin.memories',
    params: () => z.strictObject({ memoryId: MemoryId }).meta({ id: 'MemoryAdminGetParams' }),
    result: () => AdminMemory,
  }),
  'memory.admin.delete': contract({
    summary: 'Delete a memory of anyone.',
    scope: 'approve',
    permission: 'admin.memories',
    audit: { action: 'memory.delete', id: 'memoryId' },
    params: () => z.strictObject({ memoryId: MemoryId }).meta({ id: 'MemoryAdminDeleteParams' }),
    result: () => Deleted.meta({ id: 'MemoryAdminDeleteResult' }),
  }),
};

import { z } from 'zod';
import { endpoint } from '../endpoint.ts';

const Resource = z.object({
  resource_id: z.string(),
  skill_id: z.string(),
  path: z.string(),
  content: z.string(),
  content_type: z.string(),
  /** In bytes. */
  size: z.number(),
  created: z.string(),
});

const ById = z.object({ skill_id: z.string() });
const ByPath = ById.extend({ path: z.string() });

/** The files that skills bring (HTTP.md, "Skills"). */
export const skillResourceEndpoints = {
  list: endpoint({
    verb: 'get',
    path: '/v1/api/admin/skills/{skill_id}/resources',
    summary: 'The resources of a skill.',
    scope: 'approve',
    request: () => ById,
    reply: () => z.object({ resources: z.array(Resource) }),
    errors: { 404: 'Skill not found' },
  }),
  create: endpoint({
    verb: 'post',
    path: '/v1/api/admin/skills/{skill_id}/resources',
    summary: 'Add a resource to a skill.',
    status: 201,
    scope: 'approve',
    request: () =>
      ById.extend({
        path: z.string().optional(),
        content: z.string().optional(),
        content_type: z.string().optional(),
      }),
    reply: () => Resource,
    errors: {
      400: 'path is required, Invalid path, path must start with scripts/, references/, or assets/, or too much',
      403: 'Installed skills are read-only',
      404: 'Skill not found',
      409: 'Resource path already exists',
    },
  }),
  get: endpoint({
    verb: 'get',
    path: '/v1/api/admin/skills/{skill_id}/resources/{+path}',
    summary: 'One resource of a skill.',
    scope: 'approve',
    request: () => ByPath,
    reply: () => Resource,
    errors: { 404: 'Resource not found' },
  }),
  remove: endpoint({
    verb: 'delete',
    path: '/v1/api/admin/skills/{skill_id}/resources/{+path}',
    summary: 'Delete a resource of a skill.',
    scope: 'approve',
    request: () => ByPath,
    reply: () => z.object({ status: z.literal('ok') }),
    errors: { 403: 'Installed skills are read-only', 404: 'Resource not found' },
  }),
};

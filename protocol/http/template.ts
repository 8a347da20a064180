import { z } from 'zod';
import { endpoint } from './endpoint.ts';

const Template = z.object({
  template_id: z.string(),
  name: z.string(),
  category: z.string(),
  content: z.string(),
  /** JSON text of an array. */
  variables: z.string(),
  is_default: z.boolean(),
  org_id: z.string(),
  created_by: z.string(),
  origin: z.enum(['manual', 'mcp']),
  mcp_server: z.string(),
  readonly: z.boolean(),
  created: z.string(),
  updated: z.string(),
});

const fields = {
  name: z.string().optional(),
  content: z.string().optional(),
  category: z.string().optional(),
  /** A JSON array, or its text. */
  variables: z.union([z.string(), z.array(z.unknown())]).optional(),
  is_default: z.boolean().optional(),
};
const INVALID = 'name is required, content is required, or variables must be a valid JSON array';

/** Prompt templates (HTTP.md, "Templates"). */
export const templateEndpoints = {
  list: endpoint({
    verb: 'get',
    path: '/v1/api/templates',
    summary: 'The prompt templates, without their texts.',
    scope: 'read',
    request: () => z.object({}),
    reply: () =>
      z.object({
        templates: z.array(
          z.object({
            name: z.string(),
            category: z.string(),
            is_default: z.boolean(),
            origin: z.enum(['manual', 'mcp']),
          }),
        ),
      }),
  }),
  details: endpoint({
    verb: 'get',
    path: '/v1/api/admin/templates',
    summary: 'The prompt templates.',
    scope: 'approve',
    request: () => z.object({}),
    reply: () => z.object({ templates: z.array(Template) }),
  }),
  create: endpoint({
    verb: 'post',
    path: '/v1/api/admin/templates',
    summary: 'Add a prompt template.',
    scope: 'approve',
    request: () => z.object(fields),
    reply: () => Template,
    errors: { 400: INVALID, 409: 'Name already exists' },
  }),
  update: endpoint({
    verb: 'put',
    path: '/v1/api/admin/templates/{template_id}',
    summary: 'Change a prompt template. Conversations that have begun keep the earlier text.',
    scope: 'approve',
    request: () => z.object({ template_id: z.string(), ...fields }),
    reply: () => Template,
    errors: {
      400: INVALID,
      403: 'MCP-sourced templates are read-only',
      404: 'Template not found',
      409: 'Name already exists',
    },
  }),
  remove: endpoint({
    verb: 'delete',
    path: '/v1/api/admin/templates/{template_id}',
    summary: 'Delete a prompt template.',
    scope: 'approve',
    request: () => z.object({ template_id: z.string() }),
    reply: () => z.object({ status: z.literal('ok') }),
    errors: { 403: 'MCP-sourced templates are read-only', 404: 'Template not found' },
  }),
};

import { z } from 'zod';
import { endpoint } from '../endpoint.ts';

const Org = z.object({
  org_id: z.string(),
  name: z.string(),
  display_name: z.string(),
  /** JSON text of an object. */
  settings: z.string(),
  created: z.string(),
  updated: z.string(),
});

/** The one organisation (HTTP.md, "Users and roles"). */
export const orgEndpoints = {
  list: endpoint({
    verb: 'get',
    path: '/v1/api/admin/orgs',
    summary: 'The organisation, in a list.',
    scope: 'approve',
    request: () => z.object({}),
    reply: () => z.object({ orgs: z.array(Org) }),
  }),
  get: endpoint({
    verb: 'get',
    path: '/v1/api/admin/orgs/{org_id}',
    summary: 'The organisation.',
    scope: 'approve',
    request: () => z.object({ org_id: z.string() }),
    reply: () => Org,
    errors: { 404: 'Organization not found' },
  }),
  update: endpoint({
    verb: 'put',
    path: '/v1/api/admin/orgs/{org_id}',
    summary: 'Change the name or the settings of the organisation.',
    scope: 'approve',
    request: () =>
      z.object({ org_id: z.string(), display_name: z.string().optional(), settings: z.string().optional() }),
    reply: () => Org,
    errors: { 400: 'settings must be valid JSON', 404: 'Organization not found' },
  }),
};

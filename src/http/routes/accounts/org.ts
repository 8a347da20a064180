import { orgEndpoints } from '../../../../protocol/http/accounts/org.ts';
import type { Result } from '../../../../protocol/index.ts';
import { bind } from '../../bind.ts';
import { iso } from '../../iso.ts';

const toOrg = ({ orgId, name, displayName, settings, createdAtMs, updatedAtMs }: Result<'org.get'>) => ({
  org_id: orgId,
  name,
  display_name: displayName,
  settings,
  created: iso(createdAtMs),
  updated: iso(updatedAtMs),
});

export const orgRoutes = [
  bind(orgEndpoints.list, 'org.list', { params: () => ({}), reply: ({ orgs }) => ({ orgs: orgs.map(toOrg) }) }),
  bind(orgEndpoints.get, 'org.get', { params: ({ org_id }) => ({ orgId: org_id }), reply: toOrg }),
  bind(orgEndpoints.update, 'org.update', {
    params: ({ org_id, display_name, settings }) => ({ orgId: org_id, displayName: display_name, settings }),
    reply: toOrg,
  }),
];

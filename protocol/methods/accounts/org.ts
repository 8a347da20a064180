import { z } from 'zod';
import { contract } from '../../contract.ts';
import { NonEmpty, optionalText } from '../../frames.ts';

/** The organisation that runs this daemon. */
export const Org = z
  .strictObject({
    orgId: z.string(),
    name: z.string(),
    displayName: z.string(),
    /** JSON text of an object, for clients. */
    settings: z.string(),
    createdAtMs: z.int().min(0),
    updatedAtMs: z.int().min(0),
  })
  .meta({ id: 'Org' });
export type Org = z.infer<typeof Org>;

const OrgId = NonEmpty.max(64);

/** The one organisation. */
export const orgContracts = {
  'org.list': contract({
    summary: 'The organisation, in a list.',
    scope: 'approve',
    permission: 'admin.orgs',
    params: () => z.strictObject({}).meta({ id: 'OrgListParams' }),
    result: () => z.strictObject({ orgs: z.array(Org) }).meta({ id: 'OrgListResult' }),
  }),
  'org.get': contract({
    summary: 'The organisation.',
    scope: 'approve',
    permission: 'admin.orgs',
    params: () => z.strictObject({ orgId: OrgId }).meta({ id: 'OrgGetParams' }),
    result: () => Org,
  }),
  'org.update': contract({
    summary: 'Change the name or the settings of the organisation.',
    scope: 'approve',
    permission: 'admin.orgs',
    audit: { action: 'org.update', id: 'orgId' },
    serial: () => 'org',
    params: () =>
      z
        .strictObject({
          orgId: OrgId,
          displayName: optionalText(256),
          settings: optionalText(65_536),
        })
        .meta({ id: 'OrgUpdateParams' }),
    result: () => Org,
  }),
};

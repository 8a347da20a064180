import type { orgContracts } from '../../../../protocol/methods/accounts/org.ts';
import type { Handlers } from '../../call.ts';
import type { Orgs } from '../../users/orgs.ts';

export const orgMethods = (orgs: Orgs): Handlers<keyof typeof orgContracts> => ({
  'org.list': async () => ({ orgs: [await orgs.read()] }),
  'org.get': ({ orgId }) => orgs.get(orgId),
  'org.update': ({ orgId, displayName, settings }, call) => {
    // The settings are not repeated: clients may keep anything in them.
    const changed = [
      ...(displayName === undefined ? [] : ['displayName']),
      ...(settings === undefined ? [] : ['settings']),
    ];
    return orgs.update(orgId, { displayName, settings }, () => call.audited({ changed, displayName }));
  },
});

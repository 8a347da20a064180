import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wholeGateway } from '../../testing/whole-gateway.ts';

test('a change of a role, the organisation or a template does not undo another one at the same moment', async () => {
  await using gateway = await wholeGateway();
  const { call } = gateway;
  const permissions = ['read', 'admin.settings'] as const;
  const { roleId } = await call('role.create', { name: 'ops', displayName: 'Ops', permissions: [...permissions] });
  await Promise.all([
    call('role.update', { roleId, permissions: ['read'] }),
    call('role.update', { roleId, displayName: 'Operations' }),
  ]);
  const orgId = 'default';
  await Promise.all([
    call('org.update', { orgId, settings: '{"a":1}' }),
    call('org.update', { orgId, displayName: 'Mill' }),
  ]);
  const { templateId } = await call('template.create', { name: 'short', content: 'be long' });
  await Promise.all([
    call('template.update', { templateId, content: 'be short' }),
    call('template.update', { templateId, name: 'brief' }),
  ]);

  const role = (await call('role.list', {})).roles.find((each) => each.roleId === roleId);
  const { displayName, settings } = await call('org.get', { orgId });
  const { templates } = await call('template.details', {});
  const template = templates.find((each) => each.templateId === templateId);
  assert.deepEqual(
    [role?.displayName, role?.permissions, displayName, settings, template?.name, template?.content],
    ['Operations', ['read'], 'Mill', '{"a":1}', 'brief', 'be short'],
  );
});

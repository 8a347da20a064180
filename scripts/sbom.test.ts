import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { tempDir } from '../src/testing/temp-store.ts';
import { keepPackages, toSbom, writeSbom } from './sbom.js';

const row = (name: string, license = 'MIT') => ({ name, version: '1.2.3', license });

test('the SBOM describes each package with its name, version, licence and address', () => {
  const { metadata, components, ...head } = toSbom({ ...row('own'), description: 'Ours.' }, [
    row('plain'),
    row('@scope/two', '(MPL-2.0 OR Apache-2.0)'),
  ]);
  assert.deepEqual(head, {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
  });
  const mit = [{ license: { id: 'MIT' } }];
  const described = (type: string, name: string, purl: string) => ({
    ...{ type, name, version: '1.2.3', licenses: mit },
    ...{ purl, 'bom-ref': purl },
  });
  assert.deepEqual(metadata, { component: described('application', 'own', 'pkg:npm/own@1.2.3') });
  assert.deepEqual(components, [
    described('library', 'plain', 'pkg:npm/plain@1.2.3'),
    {
      ...described('library', 'two', 'pkg:npm/%40scope/two@1.2.3'),
      group: '@scope',
      licenses: [{ expression: '(MPL-2.0 OR Apache-2.0)' }],
    },
  ]);
});

test('the SBOM names each package of the parts of a build once', async () => {
  using dist = tempDir();
  await keepPackages(dist.path, 'server', [{ ...row('a'), texts: ['Text of a.'] }, row('b')]);
  await keepPackages(dist.path, 'page', [row('c'), row('b')]);
  await writeSbom(dist.path, ['server', 'page']);
  const { metadata, components } = JSON.parse(await readFile(path.join(dist.path, 'sbom.cdx.json'), 'utf8'));
  assert.equal(metadata.component.name, 'headgate');
  assert.deepEqual(
    components.map(({ name }: { name: string }) => name),
    ['a', 'b', 'c'],
  );
});

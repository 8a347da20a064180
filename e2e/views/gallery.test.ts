import assert from 'node:assert/strict';
import { mkdir, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { watchGallery } from '../../scripts/page/gallery.js';
import { assertAccessible } from '../support/clients/accessibility.ts';
import { launched } from '../support/clients/browser.ts';

test('the gallery draws the components of the page, in each appearance, and all of them are accessible', async () => {
  await using ui = await mkdtempDisposable(path.join(tmpdir(), 'headgate-gallery-'));
  await mkdir(path.join(ui.path, 'site'));
  await writeFile(path.join(ui.path, 'site.json'), '{}');
  await (await watchGallery(ui.path)).dispose();
  const files = JSON.parse(await readFile(path.join(ui.path, 'site.json'), 'utf8'));
  assert.deepEqual(Object.keys(files), ['/static/gallery.html', '/static/gallery.css', '/static/gallery.js']);

  await using page = await (await launched()).newPage({ viewport: { width: 1280, height: 900 } });
  const thrown: string[] = [];
  page.on('pageerror', (error) => thrown.push(String(error.stack)));
  await page.route('**/*', async (route) => {
    const row = files[new URL(route.request().url()).pathname];
    if (row === undefined) return route.fulfill({ status: 404 });
    const body = gunzipSync(await readFile(path.join(ui.path, 'site', row.file)));
    await route.fulfill({ body, contentType: row.contentType });
  });
  await page.goto('http://localhost:9/static/gallery.html');
  for (const part of [
    '.primary',
    '.approval.pending',
    '.diff-text',
    '.composer',
    '.usage-table',
    '.login',
    '.tool.denied',
  ])
    await page.locator(part).first().waitFor({ timeout: 15_000 });
  for (const theme of ['light', 'dark'])
    for (const contrast of ['normal', 'more']) {
      await page.getByLabel('theme').selectOption(theme);
      await page.getByLabel('contrast').selectOption(contrast);
      await assertAccessible(page, `the gallery, ${theme}, contrast ${contrast}`);
      if (process.env.PICTURE)
        await page.screenshot({ fullPage: true, path: `${process.env.PICTURE}-${theme}-${contrast}.png` });
    }
  await page.getByLabel('density').selectOption('compact');
  assert.equal(await page.evaluate(() => document.documentElement.dataset.density), 'compact');
  assert.deepEqual(thrown, []);
});

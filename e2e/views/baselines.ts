import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { allowedMs } from '../support/deadline.ts';
import {
  compare,
  inStoredColours,
  type Picture,
  readPng,
  reduce,
  type Theme,
  takePicture,
  toPng,
} from '../support/views/picture.ts';
import type { View } from '../support/views/ways.ts';
import type { ViewStage } from './stage.ts';

const FOLDER = fileURLToPath(new URL('./baselines/', import.meta.url));
/** Where the pictures that differ are written, each next to one that shows the difference. */
const DIFFERENCES = fileURLToPath(new URL('../../node_modules/.cache/baselines/', import.meta.url));
const VERSION = path.join(FOLDER, 'chromium.txt');
/** Pixels of the reduced picture that may differ: edges of letters, and colours between two of the palette. A changed word has more. */
const TOLERATED = 80;
/** How much later than its view a list may be there. */
const LATER_MS = 1_000;

/** The version of the browser that made the baselines; undefined: there are none. */
export async function baselineVersion(): Promise<string | undefined> {
  return existsSync(VERSION) ? (await readFile(VERSION, 'utf8')).trim() : undefined;
}

interface Shown {
  page: Page;
  view: View;
  width: number;
  theme: Theme;
}

/** Compares the page with its baseline. Returns what is wrong, and where to see it; undefined if nothing is. */
export async function compareView(stage: ViewStage, shown: Shown): Promise<string | undefined> {
  const name = nameOf(shown);
  const file = path.join(FOLDER, name);
  if (!existsSync(file)) return `${name} has no baseline; npm run baselines -- --update makes it`;
  const before = readPng(await readFile(file));
  const latestMs = performance.now() + allowedMs(LATER_MS);
  let now = await reducedView(stage, shown);
  while (compare(before, now).pixels > TOLERATED && performance.now() < latestMs) now = await reducedView(stage, shown);
  const { pixels, picture } = compare(before, now);
  if (pixels <= TOLERATED) return undefined;
  const place = path.join(DIFFERENCES, name.replace('.png', ''));
  await mkdir(path.dirname(place), { recursive: true });
  await writeFile(`${place}-now.png`, toPng(now));
  await writeFile(`${place}-difference.png`, toPng(picture));
  return `${name} differs in ${pixels} pixels: ${place}-difference.png`;
}

/** Makes the baseline of the page as it is now. Returns the size of its file. */
export async function updateView(stage: ViewStage, shown: Shown): Promise<number> {
  const file = path.join(FOLDER, nameOf(shown));
  const now = await reducedView(stage, shown);
  // A picture that is the same to the eye keeps its bytes, so that a commit holds only what has changed.
  const isSame = existsSync(file) && compare(readPng(await readFile(file)), now).pixels <= TOLERATED;
  const bytes = isSame ? await readFile(file) : toPng(now);
  await mkdir(path.dirname(file), { recursive: true });
  if (!isSame) await writeFile(file, bytes);
  return bytes.length;
}

/** Records the version of the browser, and removes the baselines of views that are no more. */
export async function finishUpdate(version: string, kept: ReadonlySet<string>): Promise<void> {
  for (const folder of await readdir(FOLDER, { withFileTypes: true })) {
    if (!folder.isDirectory()) continue;
    for (const name of await readdir(path.join(FOLDER, folder.name)))
      if (!kept.has(`${folder.name}/${name}`)) await rm(path.join(FOLDER, folder.name, name));
  }
  await writeFile(VERSION, `${version}\n`);
}

export const nameOf = ({ view, width, theme }: Omit<Shown, 'page'>): string => `${width}-${theme}/${view.name}.png`;

/** As it is after it was stored, with the colours of its file. */
const reducedView = async (stage: ViewStage, { page, theme }: Shown): Promise<Picture> =>
  inStoredColours(reduce(await takePicture(page, { theme, varying: stage.varying })));

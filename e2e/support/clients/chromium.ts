import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/', import.meta.url));
const PACKAGE = import.meta.resolve('@sparticuz/chromium');

/** For `chromium.launch` of playwright-core: the browser that `npm ci` installed, with its own libraries and fonts. */
export async function installedChromium(): Promise<{
  executablePath: string;
  env: Record<string, string | undefined>;
}> {
  const folder = await unpacked();
  return {
    executablePath: path.join(folder, 'chromium'),
    env: {
      ...process.env,
      LD_LIBRARY_PATH: path.join(folder, 'al2023/lib'),
      FONTCONFIG_FILE: path.join(folder, 'fonts.conf'),
    },
  };
}

/** The folder with the unpacked browser. Several processes may unpack at once, each into its own folder; one of them wins. */
async function unpacked(): Promise<string> {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error('the browser of the tests needs Linux on x64');
  const { version } = JSON.parse(await readFile(new URL('../package.json', PACKAGE), 'utf8'));
  const folder = path.join(CACHE, `chromium-${version}`);
  if (existsSync(folder)) {
    await nameFonts(folder);
    return folder;
  }
  await mkdir(CACHE, { recursive: true });
  const aside = await mkdtemp(`${folder}.`);
  await unpackTo(aside);
  await writeFile(path.join(aside, 'fonts.conf'), toFontConfig(folder));
  await rename(aside, folder).catch(async (error: unknown) => {
    await rm(aside, { recursive: true });
    if (!existsSync(folder)) throw error;
  });
  return folder;
}

/** Fontconfig wants absolute paths, and the browser ends without fonts: after a checkout was moved, its file is written again. */
async function nameFonts(folder: string): Promise<void> {
  const file = path.join(folder, 'fonts.conf');
  const text = toFontConfig(folder);
  if ((await readFile(file, 'utf8')) === text) return;
  const aside = `${file}.${process.pid}`;
  await writeFile(aside, text);
  await rename(aside, file);
}

/** Only the fonts of the package, so that a page looks the same on every machine. */
const toFontConfig = (folder: string): string => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/fonts-cache</cachedir></fontconfig>
`;

/** The package unpacks into the temporary folder, and its libraries only if it detects AWS Lambda. */
async function unpackTo(folder: string): Promise<void> {
  const code = `import('${PACKAGE}').then(({ default: chromium }) => chromium.executablePath())`;
  const env = { TMPDIR: folder, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs22.x' };
  await promisify(execFile)(process.execPath, ['-e', code], { env });
}

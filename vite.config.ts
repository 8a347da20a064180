import { createHash } from 'node:crypto';
import { defineConfig, type Plugin } from 'vite';
import { readPackages, toLicenseText } from './scripts/licenses.js';
import { inlinePage, PARTS } from './scripts/page/inline-page.js';

/** The page: one document with its script and its styles, the parts that it loads later, and the hashes that its Content-Security-Policy needs. */
export default defineConfig({
  root: 'src/page',
  logLevel: 'warn',
  build: { outDir: '../../dist/ui', emptyOutDir: true, target: 'es2023', modulePreload: false },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  plugins: [inlinePage(), cspHashes(), licenses()],
});

/** Writes csp.json: `{ scripts: ["'sha256-…'"], styles: ["'sha256-…'"] }`, one per inline element of the final page, and one per part. */
function cspHashes(): Plugin {
  return {
    name: 'headgate:csp-hashes',
    enforce: 'post',
    generateBundle: {
      order: 'post',
      handler(_options, bundle) {
        const page = bundle['index.html'];
        if (page?.type !== 'asset') throw new Error('the page was not built');
        const html = String(page.source);
        const parts = Object.values(bundle).filter(({ fileName }) => fileName.startsWith(`${PARTS}/`));
        const ofParts = parts.map((part) => hashOf(part.type === 'asset' ? String(part.source) : part.code));
        const hashes = { scripts: [...hashesOf(html, 'script'), ...ofParts], styles: hashesOf(html, 'style') };
        this.emitFile({ type: 'asset', fileName: 'csp.json', source: `${JSON.stringify(hashes)}\n` });
      },
    },
  };
}

/** Writes licenses.txt, the licence texts of all that the page holds. */
function licenses(): Plugin {
  return {
    name: 'headgate:licenses',
    async generateBundle() {
      const source = toLicenseText(await readPackages([...this.getModuleIds()]));
      this.emitFile({ type: 'asset', fileName: 'licenses.txt', source });
    },
  };
}

/** Read from the start to the end as a browser does: a script may hold the text `<style`, which begins nothing. */
function hashesOf(html: string, tag: 'script' | 'style'): string[] {
  const elements = [...html.matchAll(/<(script|style)\b([^>]*)>([\s\S]*?)<\/\1>/g)];
  const run = elements.filter(([, name, attributes]) => name === tag && !attributes?.includes('application/json'));
  return run.map(([, , , text = '']) => hashOf(text));
}

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

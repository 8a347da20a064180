import { createHash } from 'node:crypto';
import { linkParts } from './link-parts.js';

/** The folder of the parts in the output of the build. They are served below /static. */
export const PARTS = 'parts';

/**
 * Makes one document of the page, its script and its styles. What the page imports with `import(…)` becomes a part: a script of its own, named
 * after its hash, that the page loads when it needs it. The document lists the parts with their hashes.
 */
export function inlinePage() {
  return {
    name: 'headgate:inline-page',
    enforce: 'post',
    config: () => ({ base: './', build: { assetsInlineLimit: () => true, cssCodeSplit: false, assetsDir: '' } }),
    generateBundle: {
      order: 'post',
      handler(_options, bundle) {
        const page = bundle['index.html'];
        if (page?.type !== 'asset') throw new Error('the page was not built');
        const { shell, parts } = linkParts(toChunks(bundle));
        const rows = parts.map(toFile);
        const listed = Object.fromEntries(rows.map(({ name, ...row }) => [name, toRow(row)]));
        page.source = inline({ html: String(page.source), styles: toStyles(bundle), script: shell, listed });
        for (const name of Object.keys(bundle)) if (/\.(js|css)$/.test(name)) delete bundle[name];
        for (const { file, code } of rows) this.emitFile({ type: 'asset', fileName: `${PARTS}/${file}`, source: code });
      },
    },
  };
}

/** The page first. */
const toChunks = (bundle) =>
  Object.values(bundle)
    .filter(({ type }) => type === 'chunk')
    .sort((a, b) => Number(b.isEntry) - Number(a.isEntry))
    .map(({ name, fileName, code, isEntry }) => ({ name: isEntry ? 'shell' : toName(name), fileName, code }));

/** As a property in code. */
const toName = (name) => name.replaceAll(/[^a-z0-9]+([a-z0-9])?/gi, (_, next = '') => next.toUpperCase());

function toFile({ name, code, needs }) {
  const digest = createHash('sha256').update(code).digest();
  return {
    name,
    code,
    needs,
    file: `${name}-${digest.toString('hex').slice(0, 12)}.js`,
    hash: digest.toString('base64'),
  };
}

const toRow = ({ file, hash, needs }) => ({ file, integrity: `sha256-${hash}`, needs });

const toStyles = (bundle) =>
  Object.values(bundle)
    .filter(({ fileName }) => fileName.endsWith('.css'))
    .map(({ source }) => String(source).trim())
    .join('');

/** A function replaces each, because a text may contain `$&`. */
function inline({ html, styles, script, listed }) {
  const end = /<\/(script)|<!--/gi;
  const data = `<script type="application/json" id="parts">${JSON.stringify(listed)}</script>`;
  const own = `<script type="module">${script.trim().replaceAll(end, (found) => `\\x3C${found.slice(1)}`)}</script>`;
  return replaceOne(
    replaceOne(html, /<script type="module"[^>]* src="[^"]+"[^>]*><\/script>/, () => data + own),
    /<link rel="stylesheet"[^>]*>/,
    () => `<style>${styles}</style>`,
  );
}

function replaceOne(text, pattern, replace) {
  const replaced = text.replace(pattern, replace);
  if (replaced === text) throw new Error(`the page has nothing like ${pattern}`);
  return replaced;
}

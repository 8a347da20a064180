import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { context } from 'esbuild';
import { addSiteFiles } from '../build-site.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SOURCE = path.join(ROOT, 'src/page/gallery');

/**
 * Bundles the gallery of components for the page in `ui`, whenever its sources change: /static/gallery.html. Only `npm run dev` calls this, so
 * that the package has no gallery.
 */
export async function watchGallery(ui) {
  const putInPlace = {
    name: 'put-in-place',
    setup({ onEnd }) {
      onEnd(async ({ errors, outputFiles }) => {
        if (errors.length > 0) return; // esbuild has printed them
        const styles = [...(await listStyles()), path.join(SOURCE, 'gallery.css')];
        const texts = await Promise.all(styles.map((file) => readFile(file, 'utf8')));
        await addSiteFiles(ui, {
          '/static/gallery.html': await readFile(path.join(SOURCE, 'gallery.html')),
          '/static/gallery.css': texts.join('\n'),
          '/static/gallery.js': outputFiles[0].text,
        });
      });
    },
  };
  const watcher = await context({
    absWorkingDir: ROOT,
    entryPoints: ['src/page/gallery/gallery.tsx'],
    bundle: true,
    format: 'esm',
    target: 'es2023',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    logLevel: 'warning',
    write: false,
    outfile: 'gallery.js',
    plugins: [inlineStyles, putInPlace],
  });
  await watcher.rebuild();
  await watcher.watch();
  return watcher;
}

/** The styles of the page, in the order of its document. */
async function listStyles() {
  const html = await readFile(path.join(ROOT, 'src/page/index.html'), 'utf8');
  return [...html.matchAll(/href="\.\/(styles\/[\w-]+\.css)"/g)].map(([, name]) => path.join(ROOT, 'src/page', name));
}

/** `import styles from './x.css?inline'`, as Vite reads it. */
const inlineStyles = {
  name: 'inline-styles',
  setup({ onResolve, onLoad }) {
    // Nothing imports the styles of the document, which are watched, too.
    onLoad({ filter: /gallery\.tsx$/ }, async ({ path: file }) => ({
      contents: await readFile(file, 'utf8'),
      loader: 'tsx',
      watchFiles: [...(await listStyles()), path.join(SOURCE, 'gallery.css'), path.join(SOURCE, 'gallery.html')],
    }));
    onResolve({ filter: /\.css\?inline$/ }, ({ path: wanted, resolveDir }) => ({
      path: path.join(resolveDir, wanted.replace('?inline', '')),
      namespace: 'inline-styles',
    }));
    onLoad({ filter: /.*/, namespace: 'inline-styles' }, async ({ path: file }) => ({
      contents: await readFile(file, 'utf8'),
      loader: 'text',
    }));
  },
};

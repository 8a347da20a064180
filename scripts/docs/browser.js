import { findPages } from './search.js';

/** The search field of each page. Its index is a script, because pages that are opened as files may not fetch. */
const root = document.documentElement.dataset.root;
const field = document.querySelector('input[type=search]');
const results = document.querySelector('#results');
let loading;

function loadIndex() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = `${root}search-index.js`;
    script.onload = () => resolve(globalThis.headgateDocs);
    script.onerror = reject;
    document.head.append(script);
  });
  return loading;
}

async function show() {
  const pages = await loadIndex();
  const found = findPages(pages, field.value);
  results.hidden = field.value.trim() === '';
  results.replaceChildren(...(found.length === 0 ? ['No page has all of these words.'] : found.map(toLink)));
}

function toLink({ title, url, excerpt }) {
  const link = document.createElement('a');
  link.href = `${root}${url}`;
  const name = document.createElement('strong');
  name.textContent = title;
  const text = document.createElement('span');
  text.textContent = excerpt;
  link.append(name, text);
  return link;
}

field.addEventListener('input', show);

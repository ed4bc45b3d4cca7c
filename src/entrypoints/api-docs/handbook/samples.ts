import type { Token } from 'markdown-it';
import highlighter from 'highlight.js/lib/core';
import apache from 'highlight.js/lib/languages/apache';
import bash from 'highlight.js/lib/languages/bash';
import go from 'highlight.js/lib/languages/go';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import php from 'highlight.js/lib/languages/php';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import { withMarks } from './your-values.js';

// Not `http`: of the body it would try every language.
const LANGUAGES = { apache, go, html: xml, java, js: javascript, json, php, python, ruby, sh: bash, yaml };

for (const [name, language] of Object.entries(LANGUAGES)) highlighter.registerLanguage(name, language);

/** The code as HTML, with classes for its parts; undefined for `text`, which has none. Throws for a language that is not in the list. */
function highlighted(code: string, language: string): string | undefined {
  if (language === 'text') return undefined;
  if (!Object.hasOwn(LANGUAGES, language)) throw new Error(`Samples in ${language} cannot be shown.`);
  return highlighter.highlight(code, { language, ignoreIllegals: true }).value;
}

/** The languages in which a sample may be shown side by side, as people call them. */
const TABS: Record<string, string> = { sh: 'curl', js: 'Node.js', python: 'Python', go: 'Go' };

interface Sample {
  language: string;
  /** The file that a reader makes of it. */
  file?: string;
}

/** The place of a sample among those that show the same in other languages. */
interface Tab {
  group: number;
  isFirst: boolean;
  isLast: boolean;
  languages: string[];
}

/** What comes after the language in the first line, such as `file=app.mjs`, names the file. */
function sampleOf({ info }: Token): Sample {
  const [language = '', file] = info.trim().split(' file=');
  return { language: language || 'text', file };
}

/** Samples that follow each other directly, each in another language, become tabs. */
export function groupSamples(tokens: Token[]): void {
  let group: Token[] = [];
  let count = 0;
  const close = (): void => {
    const languages = group.map((token) => sampleOf(token).language);
    if (group.length > 1) {
      count += 1;
      group.forEach((token, index) => {
        const tab: Tab = {
          ...{ group: count, languages },
          ...{ isFirst: index === 0, isLast: index === group.length - 1 },
        };
        token.meta = { tab };
      });
    }
    group = [];
  };
  for (const token of tokens) {
    const language = token.type === 'fence' ? sampleOf(token).language : undefined;
    const isTab = language !== undefined && language in TABS;
    if (!isTab || group.some((each) => sampleOf(each).language === language)) close();
    if (isTab) group.push(token);
  }
  close();
}

/** A sample with its name and, for the first of several languages, the choice of one. Without a style sheet all are shown. */
export function renderSample(token: Token, escapeHtml: (text: string) => string): string {
  const { language, file } = sampleOf(token);
  const tab = (token.meta as { tab?: Tab } | null)?.tab;
  const attributes = `data-language="${escapeHtml(language)}" data-copy${file === undefined ? '' : ` data-file="${escapeHtml(file)}"`}`;
  const code = withMarks(highlighted(token.content, language) ?? escapeHtml(token.content));
  const name = file === undefined ? '' : `<code>${escapeHtml(file)}</code>`;
  const sample = `<div class="sample-box"${tab ? ` data-tab="${language}"` : ''}><p class="sample-name">${name}</p><pre class="sample" ${attributes}><code>${code}</code></pre></div>\n`;
  if (!tab) return sample;
  return `${tab.isFirst ? `<div class="samples">${choice(tab)}` : ''}${sample}${tab.isLast ? '</div>\n' : ''}`;
}

/** Radio buttons: the style sheet shows the sample of the chosen one. */
const choice = ({ group, languages }: Tab): string =>
  `<fieldset class="sample-tabs"><legend class="visually-hidden">Language of sample ${group}</legend>${languages
    .map((language, index) => {
      const id = `sample-${group}-${language}`;
      return `<input type="radio" class="visually-hidden" name="sample-${group}" id="${id}" value="${language}" autocomplete="off"${index === 0 ? ' checked' : ''}><label for="${id}">${TABS[language]}</label>`;
    })
    .join('')}</fieldset>`;

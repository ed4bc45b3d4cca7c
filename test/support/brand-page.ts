import type { Page } from './browser-session.js';

/** What a page shows of the company's brand. */
export const brandOn = ({ html }: Page) => ({
  title: html.querySelector('title')!.text,
  header: html.querySelector('.page-header')!.text.trim(),
  footer: html.querySelectorAll('.page-footer :is(p, li:not([lang]))').map(({ text }) => text.trim()),
  links: html.querySelectorAll('.page-footer a:not([hreflang])').map((link) => link.getAttribute('href')),
  styles: html.querySelectorAll('link[rel=stylesheet]').map((link) => link.getAttribute('href')),
  logo: html.querySelector('.brand-logo')?.getAttribute('src'),
});

// The fonts of the reader's system: nothing is loaded from elsewhere, and half of the site's files are gone.
export { default } from 'vitepress/theme-without-fonts'
import './style.css'

"""The state of a panel as a file and as a link, and the row of buttons that makes them."""

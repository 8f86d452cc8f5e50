// The page comes here.
